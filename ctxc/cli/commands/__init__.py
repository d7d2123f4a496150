"""The commands, one a file; nothing is registered by hand.

A module of this package is a command of its name. The first line of its docstring is what ``ctxc --help`` says of it
(read from the file, so that the list imports none of them); the docstring is its help; ``run`` is what it does: its
parameters are the command's arguments and options, its result is the exit status.
"""
