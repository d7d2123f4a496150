"""Values: frozen, slotted dataclasses that cost little to define, and whose objects cost little to make.

``dataclasses`` writes and compiles six functions for every frozen class. A compile imports a hundred of them, and that
took longer than to compile a small project. Here five of the six are shared, and the constructor is written when the
first object is made; it calls the setters of the slots, which is about twice as fast as to look fields up by name.
Nothing else differs: signature, defaults, comparison, hash, ``repr``, ``fields``, ``replace``, ``copy``, ``pickle``,
and that nobody can assign to a field afterwards. Of the options of a field there are only ``default`` and
``default_factory``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass  # to a type checker it is the very same
else:
    import dataclasses

    def dataclass(cls=None, /, *, frozen=False, slots=False, kw_only=False, eq=True):
        """The decorator of ``dataclasses``; frozen and slotted classes are made as this module says."""
        if not (frozen and slots):
            return dataclasses.dataclass(cls, frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)

        def decorate(cls):
            return _finished(
                dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)(cls), kw_only, eq
            )

        return decorate


if not TYPE_CHECKING:  # what follows sets attributes of classes that it knows nothing about
    from dataclasses import MISSING, FrozenInstanceError, fields
    from operator import attrgetter

    _FEW = 12
    """Objects that are made field by field: as long as it takes to write a constructor."""

    def _finished(cls, kw_only, eq):
        own = vars(cls)
        cls.__init__ = _first_constructor(cls, kw_only)
        cls.__signature__ = _SIGNATURE
        for name, method in _SHARED.items():
            if name not in own:
                setattr(cls, name, method)
        if eq and "__eq__" not in own:
            names = [field.name for field in fields(cls)]
            cls.__eq__, cls.__hash__ = _comparison(attrgetter(*names) if names else type)
        return cls

    def _first_constructor(cls, kw_only):
        """What stands for the constructor until it is written: when a few objects were made, or a call is unusual."""
        made = 0
        slots = None
        checks = hasattr(cls, "__post_init__")

        def __init__(self, *given, **named):
            nonlocal made, slots
            made += 1
            if slots is None:
                slots = [(f.name, getattr(cls, f.name).__set__, f.default, f.default_factory) for f in fields(cls)]
            if made > _FEW or given or checks or not named.keys() <= cls.__dataclass_fields__.keys():
                constructor = cls.__init__ = _constructor(cls, kw_only)
                return constructor(self, *given, **named)
            for name, write, default, make in slots:
                if name in named:
                    write(self, named[name])
                elif default is not MISSING:
                    write(self, default)
                elif make is not MISSING:
                    write(self, make())
                else:  # the constructor says in its own words that an argument is missing
                    return _constructor(cls, kw_only)(self, *given, **named)
            return None

        __init__.write = lambda: _constructor(cls, kw_only)
        return __init__

    def _constructor(cls, kw_only):
        known = {"MISSING": MISSING}
        parameters, lines = ["self"], []
        for field in fields(cls):
            name, given = field.name, field.name
            known[f"set_{name}"] = getattr(cls, name).__set__
            if field.default is not MISSING:
                known[f"default_{name}"] = field.default
                parameters.append(f"{name}=default_{name}")
            elif field.default_factory is not MISSING:
                known[f"make_{name}"] = field.default_factory
                parameters.append(f"{name}=MISSING")
                given = f"make_{name}() if {name} is MISSING else {name}"
            else:
                parameters.append(name)
            lines.append(f"    set_{name}(self, {given})")
        if kw_only and lines:
            parameters.insert(1, "*")
        if hasattr(cls, "__post_init__"):
            lines.append("    self.__post_init__()")
        source = f"def __init__({', '.join(parameters)}):\n" + "\n".join(lines or ["    pass"])
        exec(source, known)  # of names of fields only, as dataclasses itself does
        constructor = known["__init__"]
        constructor.__qualname__ = f"{cls.__qualname__}.__init__"
        constructor.__annotations__ = {field.name: field.type for field in fields(cls)} | {"return": None}
        return constructor

    class _Signature:
        """What ``inspect.signature`` asks a class for; only the constructor itself knows it."""

        def __get__(self, instance, cls):
            import inspect

            written = cls.__init__
            signature = inspect.signature(written.write() if hasattr(written, "write") else written)
            return signature.replace(parameters=list(signature.parameters.values())[1:])

    def _comparison(values):
        def __eq__(self, other):
            return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

        def __hash__(self):
            return hash(values(self))

        return __eq__, __hash__

    def _repr(self):
        shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
        return f"{self.__class__.__qualname__}({shown})"

    def _setattr(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    def _delattr(self, name):
        raise FrozenInstanceError(f"cannot delete field {name!r}")

    def _getstate(self):
        return [getattr(self, field.name) for field in fields(self)]

    def _setstate(self, state):
        for field, value in zip(fields(self), state, strict=True):
            object.__setattr__(self, field.name, value)

    _SIGNATURE = _Signature()
    _SHARED = {
        "__repr__": _repr,
        "__setattr__": _setattr,
        "__delattr__": _delattr,
        "__getstate__": _getstate,
        "__setstate__": _setstate,
    }

__all__ = ["dataclass"]
