"""From bytes to the typed project: text, YAML and JSON with positions, schemas, and one loader a file kind."""
