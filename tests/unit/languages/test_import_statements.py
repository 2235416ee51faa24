"""Import statements as written: read from the tree, whatever stands between their words."""

from __future__ import annotations

import pytest

from gitindex.languages.syntax.extract import extract_facts

PYTHON = {
    "from importlib import metadata": ("importlib", [("metadata", "metadata")], 0),
    "from pkg.importer import f": ("pkg.importer", [("f", "f")], 0),
    "from bulk_import import load as l, save": ("bulk_import", [("load", "l"), ("save", "save")], 0),
    "import importlib": ("importlib", [("importlib", "importlib")], 0),
    "import pkg.importer as i": ("pkg.importer", [("pkg.importer", "i")], 0),
    "from . import importer": ("", [("importer", "importer")], 1),
    "from .. pkg . importing import (f, # import g\n g as h)": ("pkg.importing", [("f", "f"), ("g", "h")], 2),
    "from a.\\\n  b import c": ("a.b", [("c", "c")], 0),
    "from ...imports import *": ("imports", [("*", "*")], 3),
    "from __future__ import annotations": ("__future__", [("annotations", "annotations")], 0),
}  # fmt: skip


@pytest.mark.parametrize("text", PYTHON)
def test_python_imports(text: str) -> None:
    module, names, level = PYTHON[text]
    (found,) = extract_facts(text.encode(), "python").imports
    assert (found.module, list(found.names), found.level) == (module, names, level)


OTHERS = {
    ("go", 'package p\nimport x /* "no" */ "a/import"'): [("a/import", [("import", "x")])],
    ("go", 'package p\nimport (\n. "a"\n_ `b`)'): [("a", [("*", "*")]), ("b", [])],
    ("rust", "use z::a::{self /* x, y */, b as user, c::*};"): [
        ("z", [("a", "a")]), ("z::a", [("b", "user")]), ("z::a::c", [("*", "*")])],
    ("rust", "pub(crate) use ::reuse::cause as _;"): [("::reuse", [("cause", "_")])],
    ("rust", "pub mod module;"): [("self::module", [("module", "module")])],
    ("rust", "extern crate crates as c;"): [("crates", [("crates", "c")])],
    ("java", "import static /* import */ a.statics .B.c;"): [("a.statics.B", [("c", "c")])],
    ("java", "import a.importer.*;"): [("a.importer", [("*", "*")])],
    ("kotlin", "import a.as_.b as c // as d\n"): [("a.as_.b", [("b", "c")])],
    ("scala", "import a.{B => C, _}, d.E"): [("a", [("B", "C"), ("*", "*")]), ("d", [("E", "E")])],
    ("csharp", "using X = A . B;"): [("A . B", [("A . B", "X")])],
    ("csharp", "global using static A.Using;"): [("A.Using", [("*", "*")])],
    ("swift", "@testable import struct A.import_.C\n"): [("A.import_", [("C", "C")])],
    ("php", "<?php use A\\{B, /* C, */ D as Used};"): [("A\\B", [("B", "B")]), ("A\\D", [("D", "Used")])],
    ("php", "<?php require_once __DIR__ . '/use.php';"): [("use.php", [])],
    ("c", "#include <a.h> /* b.h */\n#include MACRO\n"): [("a.h", [])],
    ("cpp", "using namespace a::using_;\nusing b::c;\n"): [("a::using_", [("*", "*")]), ("b", [("c", "c")])],
    ("bash", 'source "$D"/a.sh # b.sh\n'): [("$D/a.sh", [])],
    ("ruby", "require 'a' # 'b'\nrequire \"c/#{d}\"\n"): [("a", [])],
    ("lua", "local x = require --[[ 'no' ]] 'a.b'\n"): [("a.b", [])],
    ("dart", "import /* 'no' */ 'a.dart' as b;"): [("a.dart", [])],
    ("typescript", 'export * as default from "./a"'): [("./a", [("*", "default")])],
}  # fmt: skip


@pytest.mark.parametrize(("language", "text"), OTHERS)
def test_imports(language: str, text: str) -> None:
    found = extract_facts(text.encode(), language).imports
    assert [(item.module, list(item.names)) for item in found] == OTHERS[language, text]
