"""`typing` and `enum` cost a shell prompt 17 ms of CPU (37 against 20, median of 15): these cost 1 ms.

Named tuples and closed sets of words. To a type checker they are the standard ones, and they behave
like them as far as this project goes. SHA-1 and SHA-256 come without OpenSSL, whose import costs a
cold command 3 to 6 ms.
"""

from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true by its name

if TYPE_CHECKING:
    from enum import IntEnum, StrEnum
    from functools import cache as once
    from hashlib import sha1, sha256
    from typing import NamedTuple

    __all__ = ["TYPE_CHECKING", "IntEnum", "NamedTuple", "StrEnum", "once", "sha1", "sha256"]
else:
    try:
        from _collections import _tuplegetter  # what the standard named tuples use
    except ImportError:
        from _operator import itemgetter

        def _tuplegetter(number, _doc):
            return property(itemgetter(number))

    def once(make):
        """A function without arguments that is run at most once."""
        results = []

        def ask():
            if not results:
                results.append(make())
            return results[0]

        return ask

    class _Shape(type):
        """Makes fields of annotations; `collections` would compile a function for each class."""

        def __new__(meta, name, bases, space):
            made = super().__new__(meta, name, bases, {"__slots__": (), **space})
            if bases[0] is tuple:
                return made
            names = made._fields = made.__match_args__ = tuple(made.__annotations__)
            made._defaults = {field: space[field] for field in names if field in space}
            made._tail = tuple(made._defaults.values())  # of the last fields, as in a signature
            for number, field in enumerate(names):
                setattr(made, field, _tuplegetter(number, None))
            return made

    class NamedTuple(tuple, metaclass=_Shape):
        """A tuple whose places have names."""

        _fields = _tail = ()

        def __new__(cls, *values, **named):
            missing = len(cls._fields) - len(values)
            if missing or named:
                if named or not 0 < missing <= len(cls._tail):
                    values = _completed(cls, values, named)
                else:
                    values += cls._tail[-missing:]
            return tuple.__new__(cls, values)

        @classmethod
        def _make(cls, values):
            return cls(*values)

        def _replace(self, **named):
            return type(self)(**{**self._asdict(), **named})

        def _asdict(self):
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self):
            return tuple(self)

        def __repr__(self):
            listed = ", ".join(f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({listed})"

    def _completed(cls, values, named):
        """All the values of a tuple, from positions, names and defaults."""
        fields = cls._fields
        given = dict(zip(fields, values))  # noqa: B905 - which are too many is told below
        twice = given.keys() & named.keys()
        whole = {**cls._defaults, **given, **named}
        if len(values) > len(fields) or twice or whole.keys() != set(fields):
            wrong = sorted(twice | (whole.keys() ^ set(fields))) or len(values)
            raise TypeError(f"{cls.__name__}: wrong arguments: {wrong}")
        return [whole[field] for field in fields]

    class _Closed(type):
        """Makes members of a class's constants; no other instance can be had."""

        def __new__(meta, name, bases, space):
            made = super().__new__(meta, name, bases, space)
            made._members = {}
            for key, value in space.items() if bases[0] not in (str, int) else ():
                if not key.startswith("_"):
                    member = made._members[value] = bases[0].__base__.__new__(made, value)
                    member.name = key
                    setattr(made, key, member)
            return made

        def __call__(cls, value):
            try:
                return cls._members[value]
            except (KeyError, TypeError):
                raise ValueError(f"{value!r} is not a valid {cls.__name__}") from None

        def __iter__(cls):
            return iter(cls._members.values())

        def __len__(cls):
            return len(cls._members)

        def __contains__(cls, value):
            return any(value == member for member in cls)

        def __getitem__(cls, name):
            return cls.__members__[name]

        @property
        def __members__(cls):
            return {member.name: member for member in cls}

    class StrEnum(str, metaclass=_Closed):
        """A closed set of words."""

        @property
        def value(self):
            return str.__str__(self)

        def __reduce__(self):
            return type(self), (str(self),)

        def __repr__(self):
            return f"<{type(self).__name__}.{self.name}>"

        def __str__(self):
            return str.__str__(self)

    class IntEnum(int, metaclass=_Closed):
        """A closed set of numbers."""

        @property
        def value(self):
            return int(self)

        def __reduce__(self):
            return type(self), (int(self),)

        def __repr__(self):
            return f"<{type(self).__name__}.{self.name}>"

        def __str__(self):
            return int.__repr__(self)

    def sha1(data=b""):
        """Return a SHA-1 object, as hashlib does."""
        return _sha1()(data)

    def sha256(data=b""):
        """Return a SHA-256 object, as hashlib does."""
        return _sha256()(data)

    def _first_of(name, *modules):
        """Return the function of the first module that this Python has."""
        for module in modules:
            try:
                return getattr(__import__(module), name)
            except ImportError:
                continue
        return getattr(__import__("hashlib"), name)

    _sha1 = once(lambda: _first_of("sha1", "_sha1"))
    _sha256 = once(lambda: _first_of("sha256", "_sha256", "_sha2"))


class Suppress:
    """`contextlib.suppress` without the modules that `contextlib` imports."""

    def __init__(self, *errors: type[BaseException]) -> None:
        self._errors = errors

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is not None and issubclass(kind, self._errors)
