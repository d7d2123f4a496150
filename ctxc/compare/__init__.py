"""Comparing two compiled contexts: what a model will see differently, why, and what it costs.

=================== ===========================================================================================
file                what it does
=================== ===========================================================================================
``sequences.py``    edit scripts of sequences, and what moved in one
``words.py``        texts as words, white space, punctuation and single CJK characters; a readable word-level diff
``hunks.py``        edits of a text with their source lines
``lines.py``        where a line of a compiled text stands in its source
``masking.py``      secrets, kept out of every text that a change carries
``views.py``        a package, or a saved snapshot, as what is compared
``matching.py``     which section of one side is which of the other
``sections.py``     the facets in which a section differs
``values.py``       differences of free-form values, keyed
``schemas.py``      differences of JSON Schemas, and whether they break somebody
``descriptions.py`` the words of a tool or parameter, apart from its shape
``tools.py``        tools by name, as values; order and serialization apart
``contracts.py``    output contracts
``prefix.py``       the first byte that differs, and what it costs the cache
``fixtures.py``     one fixture on both sides
``versions.py``     what changed without a bump, and the bump that it needs
``impact.py``       from a file to fragments, templates and fixtures
``summary.py``      totals, percentiles, and identical changes told once
``narrow.py``       one facet or one fixture of a change
``codec.py``        a change as plain values and back
=================== ===========================================================================================
"""
