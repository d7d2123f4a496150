"""Whether a backtracking engine can need exponential time for a pattern.

Schemas carry patterns that other validators run with a backtracking engine. Looked for is the classic shape: an
unbounded repetition of a group that holds an unbounded repetition and nothing that must stand between two rounds, or
alternatives that begin alike. Sound patterns with separators, ``(\\.[a-z]+)*``, are not flagged.
"""

from __future__ import annotations

from dataclasses import field

from ctxc.base.values import dataclass

_OPEN = ("*", "+")


@dataclass(slots=True)
class _Atom:
    """One atom: its text, and whether its quantifier allows none, or any number."""

    text: str
    group: list[list[_Atom]] | None = None
    optional: bool = False
    unbounded: bool = False


@dataclass(slots=True)
class _Reader:
    """A cursor over a pattern."""

    pattern: str
    place: int = 0
    explosive: bool = False
    depth: int = 0
    branches: list[list[_Atom]] = field(default_factory=list)


def is_explosive(pattern: str) -> bool:
    """True if the pattern holds a repetition that can be split up in exponentially many ways."""
    if len(pattern) > 4_096:
        return True
    reader = _Reader(pattern)
    _branches(reader)
    return reader.explosive


def _branches(reader: _Reader) -> list[list[_Atom]]:
    """The alternatives up to the closing parenthesis or the end."""
    found: list[list[_Atom]] = [[]]
    reader.depth += 1
    while reader.place < len(reader.pattern) and reader.depth < 100:
        char = reader.pattern[reader.place]
        if char == ")":
            break
        if char == "|":
            found.append([])
            reader.place += 1
            continue
        atom = _atom(reader)
        _quantify(reader, atom)
        if atom.unbounded and atom.group is not None and _splits(atom.group):
            reader.explosive = True
        found[-1].append(atom)
    reader.depth -= 1
    return found


def _atom(reader: _Reader) -> _Atom:
    """One atom: a group, a class, an escape, a character."""
    pattern, start = reader.pattern, reader.place
    char = pattern[start]
    if char == "(":
        reader.place += 1
        if pattern.startswith("?", reader.place):
            end = reader.place + 1
            while end < len(pattern) and pattern[end] not in ":=!>)":
                end += 1
            reader.place = min(end + 1, len(pattern))
        group = _branches(reader)
        reader.place += 1
        return _Atom(pattern[start : reader.place], group)
    if char == "[":
        end = start + 1
        if pattern.startswith("^", end):
            end += 1
        if pattern.startswith("]", end):
            end += 1
        while end < len(pattern) and pattern[end] != "]":
            end += 2 if pattern[end] == "\\" else 1
        reader.place = end + 1
    else:
        reader.place += 2 if char == "\\" else 1
    return _Atom(pattern[start : reader.place])


def _quantify(reader: _Reader, atom: _Atom) -> None:
    """Read the quantifier of an atom, if it has one."""
    pattern = reader.pattern
    char = pattern[reader.place : reader.place + 1]
    if char in ("*", "+", "?"):
        atom.optional, atom.unbounded = char in "*?", char in _OPEN
        reader.place += 1
    elif char == "{":
        end = pattern.find("}", reader.place)
        low, comma, high = pattern[reader.place + 1 : end].partition(",") if end > 0 else ("", "", "")
        if not low.isdigit() or (high and not high.isdigit()):
            return
        atom.optional = int(low) == 0
        atom.unbounded = bool(comma) and not high
        reader.place = end + 1
    else:
        return
    if pattern[reader.place : reader.place + 1] in ("?", "+"):
        reader.place += 1


def _splits(branches: list[list[_Atom]]) -> bool:
    """True if rounds of these alternatives can share out the same text in several ways."""
    for atoms in branches:
        needed = [atom for atom in atoms if not atom.optional]
        repeated = [atom for atom in atoms if _repeats(atom)]
        if repeated and all(atom in repeated for atom in needed) and len(needed) <= 1:
            return True
        if repeated and needed and all(_is_wide(atom) for atom in repeated):
            return True
    firsts = [atoms[0].text for atoms in branches if atoms]
    return len(branches) > 1 and len(firsts) != len(set(firsts))


def _repeats(atom: _Atom) -> bool:
    """True for an atom that is repeated without bound, or a group that is nothing but one."""
    if atom.unbounded:
        return True
    return atom.group is not None and any(len(atoms) == 1 and _repeats(atoms[0]) for atoms in atom.group)


def _is_wide(atom: _Atom) -> bool:
    """True for an atom that also matches whatever else stands in its group."""
    return atom.text in (".", "[^]", r"[\s\S]", r"[\w\W]", r"[\d\D]")
