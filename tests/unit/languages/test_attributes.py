"""Fields that Python's `__init__` sets on its object."""

from gitindex.languages.facts import Use, unpack_places
from gitindex.languages.syntax.extract import extract_facts

TEXT = b'''\
class Shape:
    sides: int = 4

    def __init__(self, name, other):
        """Doc."""
        self.name = name  # shown
        self.size: dict[str, int] = {}
        self._hidden = self.shown = 0
        self.sides = 5
        other.color = "red"
        if name:
            self.late = 1
            self.late = 2

        def inner(self):
            self.inner_only = 1

        class Local:
            def __init__(self):
                self.local = 1

    def scale(self):
        self.scaled = 2


def __init__(self):
    self.loose = 1
'''


def fields() -> dict[str, tuple[str, int, bool]]:
    facts = extract_facts(TEXT, "python")
    return {
        symbol.qualified: (symbol.signature, symbol.line, symbol.exported)
        for symbol in facts.symbols
        if symbol.kind == "field"
    }


def test_each_is_found_once_where_it_is_set_first() -> None:
    assert fields() == {
        "Shape.sides": ("sides: int = 4", 1, True),
        "Shape.name": ("self.name", 5, True),
        "Shape.size": ("self.size: dict[str, int]", 6, True),
        "Shape._hidden": ("self._hidden", 7, False),
        "Shape.shown": ("self.shown", 7, True),
        "Shape.late": ("self.late", 11, True),
        "Shape.__init__.Local.local": ("self.local", 19, False),
    }


def test_its_place_is_a_definition_and_others_are_uses() -> None:
    facts = extract_facts(TEXT, "python")
    places = unpack_places("late", facts.postings["late"])
    assert [(place.line, place.use) for place in places] == [
        (11, Use.DEFINITION),
        (12, Use.ATTRIBUTE),
    ]


def test_the_interface_has_its_name_and_type_and_not_its_value() -> None:
    def digest(old: bytes, new: bytes) -> str:
        return extract_facts(TEXT.replace(old, new), "python").interface_hash

    same = digest(b"", b"")
    assert digest(b"self.name = name", b"self.name = name.upper()") == same
    assert digest(b"self._hidden = ", b"") == same
    assert digest(b"dict[str, int]", b"dict[str, str]") != same
    assert digest(b"self.name = name", b"self.title = name") != same
