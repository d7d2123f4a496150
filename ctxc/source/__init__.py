"""Where bytes come from: a tree lists paths and reads them, whether it is the work tree, the index, a commit or memory.

================================================== =================================================================
file                                               what it does
================================================== =================================================================
``tree.py``                                        the port, and the limits of reading
``paths.py``, ``links.py``, ``walking.py``         which paths are allowed, links inside the tree, listings
``folders.py``                                     what all trees have in common
``worktree.py``, ``disk.py``                       files on disk, opened without following a link
``commits.py``, ``objects.py``                     a commit or the index, from git's object store
``memory.py``, ``overlay.py``                      a tree of texts; a tree with some files replaced
``opening.py``                                     the tree that a command asks for
``git.py``, ``process.py``, ``refs.py``            a repository, and how git is run on one that nobody vouches for
``gitdir.py``, ``ownership.py``                    finding a repository, and whether its owner is trusted
``base_revision.py``, ``changes.py``               what a change is judged against, and which files differ
================================================== =================================================================
"""
