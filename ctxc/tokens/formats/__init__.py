"""Vocabulary files that a project brings along: one form of file a module.

Each module has ``NAME`` (what people call the form), ``recognises(data)``, cheap, and ``ready()``, which raises
MissingTokenizer where a package is missing, and ``counter(path, data, size)``, which reads the file and gives the
function that counts a text. ``size`` is how many tokens the vocabulary must have; 0 leaves that open.
"""
