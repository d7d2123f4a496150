"""The command line: one command a file in ``commands/``, thin; ``console.py`` is the only place that prints."""
