"""The table of languages: how files are recognised, and by which grammar. Imports no parser."""

from __future__ import annotations

import os
import sys

from gitindex.base.light_types import TYPE_CHECKING, NamedTuple, once

if TYPE_CHECKING:
    from collections.abc import Collection

EXTRACTOR_VERSION = 16
"""Increased with every change that may change the facts of any language."""

TEXT = "text"
"""The language of every file that the table does not cover."""


class Language(NamedTuple):
    """One row: a language, the wheel with its grammar, and how its files are recognised."""

    name: str
    dist: str  # distribution on PyPI; its module has the same name with underscores
    extensions: str  # without the dot, lower case
    names: str = ""  # whole file names, lower case
    interpreters: str = ""  # last word of a shebang's path, digits and dots stripped
    function: str = "language"  # function of the module that returns the grammar
    queries: str = ""  # folders of its queries, joined; default: the one with its name


LANGUAGES = (
    Language(
        "bash",
        "tree-sitter-bash",
        "sh bash bats ebuild eclass ksh zsh",
        ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zshenv pkgbuild",
        "sh bash dash ash ksh zsh",
    ),
    Language("c", "tree-sitter-c", "c"),
    Language(
        "cpp",
        "tree-sitter-cpp",
        "cc cpp cxx c++ h hh hpp hxx h++ inl ipp tpp ino cu cuh",
        queries="c cpp",
    ),
    Language("csharp", "tree-sitter-c-sharp", "cs csx"),
    Language("css", "tree-sitter-css", "css"),
    Language("dart", "tree-sitter-dart", "dart", interpreters="dart"),
    Language("elixir", "tree-sitter-elixir", "ex exs", "mix.lock", "elixir"),
    Language("go", "tree-sitter-go", "go"),
    Language("haskell", "tree-sitter-haskell", "hs", interpreters="runhaskell runghc"),
    Language("hcl", "tree-sitter-hcl", "hcl tf tfvars nomad"),
    Language("html", "tree-sitter-html", "html htm xhtml"),
    Language("java", "tree-sitter-java", "java jav"),
    Language(
        "javascript",
        "tree-sitter-javascript",
        "js mjs cjs jsx es6",
        "jakefile",
        "node nodejs bun qjs",
        queries="ecma javascript jsx",
    ),
    Language(
        "json",
        "tree-sitter-json",
        "json jsonc webmanifest geojson",
        ".eslintrc .babelrc .prettierrc composer.lock pipfile.lock",
    ),
    Language("julia", "tree-sitter-julia", "jl", interpreters="julia"),
    Language("kotlin", "tree-sitter-kotlin", "kt kts", interpreters="kotlin"),
    Language("lua", "tree-sitter-lua", "lua rockspec", ".luacheckrc", "lua luajit"),
    Language("markdown", "tree-sitter-markdown", "md markdown mdown mkd mdx"),
    Language("ocaml", "tree-sitter-ocaml", "ml", ".ocamlinit", "ocaml", "language_ocaml"),
    Language(
        "ocaml_interface",
        "tree-sitter-ocaml",
        "mli",
        function="language_ocaml_interface",
        queries="ocaml",
    ),
    Language(
        "php",
        "tree-sitter-php",
        "php phtml php3 php4 php5 phps",
        interpreters="php",
        function="language_php",
    ),
    Language(
        "python",
        "tree-sitter-python",
        "py pyi pyw pyx pxd wsgi",
        "sconstruct sconscript wscript snakefile",
        "python pypy uv",
    ),
    Language(
        "ruby",
        "tree-sitter-ruby",
        "rb rake gemspec ru podspec rbw thor",
        "rakefile gemfile guardfile podfile vagrantfile fastfile brewfile capfile .irbrc",
        "ruby jruby rake macruby",
    ),
    Language("rust", "tree-sitter-rust", "rs", interpreters="rust-script"),
    Language("scala", "tree-sitter-scala", "scala sc sbt", interpreters="scala"),
    Language("sql", "tree-sitter-sql", "sql ddl psql"),
    Language("swift", "tree-sitter-swift", "swift", interpreters="swift"),
    Language(
        "toml",
        "tree-sitter-toml",
        "toml",
        "cargo.lock poetry.lock uv.lock pipfile pdm.lock gopkg.lock",
    ),
    Language(
        "tsx",
        "tree-sitter-typescript",
        "tsx",
        function="language_tsx",
        queries="ecma typescript jsx",
    ),
    Language(
        "typescript",
        "tree-sitter-typescript",
        "ts mts cts",
        interpreters="deno ts-node tsx",
        function="language_typescript",
        queries="ecma typescript",
    ),
    Language("yaml", "tree-sitter-yaml", "yaml yml", ".clang-format .clang-tidy .yamllint"),
    Language("zig", "tree-sitter-zig", "zig zon"),
)

MAX_NAMED = 4_096
"""Names of files in memory."""
BY_NAME = {row.name: row for row in LANGUAGES}
_EXTENSIONS = {ext.encode(): row.name for row in LANGUAGES for ext in row.extensions.split()}
_NAMES = {name.encode(): row.name for row in LANGUAGES for name in row.names.split()}
_INTERPRETERS = {word.encode(): row.name for row in LANGUAGES for word in row.interpreters.split()}


def language_of(path: bytes, head: bytes) -> str:
    """Return the language of a file: by its name, its extension, then the shebang in `head`."""
    named = _by_name(path[path.rfind(b"/") + 1 :])
    if named is not None:
        return named
    return _by_shebang(head) if head.startswith(b"#!") else TEXT


def needs_head(path: bytes) -> bool:
    """Does the language of a file depend on its content?"""
    return _by_name(path[path.rfind(b"/") + 1 :]) is None


def _by_name(name: bytes) -> str | None:
    """Return the language of a file without folders; None if its content decides."""
    try:
        return _named[name]
    except KeyError:
        if len(_named) >= MAX_NAMED:
            _named.clear()
    base = name.lower()
    dot = base.rfind(b".")
    language = _NAMES.get(base)
    if language is None and dot > 0:
        # Even an unknown extension means that the file is not a script.
        language = _EXTENSIONS.get(base[dot + 1 :], TEXT)
    _named[name] = language
    return language


_named: dict[bytes, str | None] = {}
"""Cache: a refresh asks twice for each path, and the next one for the same names."""


def may_be_of(path: str, languages: Collection[str]) -> bool:
    """Can a file be of one of these languages, by its name? True if only its content can tell."""
    raw = os.fsencode(path)
    return needs_head(raw) or language_of(raw, b"") in languages


def _by_shebang(head: bytes) -> str:
    words = head[2:256].split(b"\n", 1)[0].split()
    if words and words[0].endswith(b"/env"):
        words = [word for word in words[1:] if word[:1] != b"-" and b"=" not in word]
    if not words:
        return TEXT
    program = words[0].rsplit(b"/", 1)[-1].rstrip(b"0123456789.")
    return _INTERPRETERS.get(program, TEXT)


def extractor_id(language: str) -> str:
    """Return an id that changes whenever the facts of a blob in this language could change."""
    versions = installed_versions()
    cached = _ids.get(language)
    if cached is None or cached[0] is not versions:
        cached = _ids[language] = (versions, _id_of(language, versions))
    return cached[1]


_ids: dict[str, tuple[dict[str, str], str]] = {}
"""The id of each language: one text for all blobs."""


def _id_of(language: str, versions: dict[str, str]) -> str:
    row = BY_NAME.get(language)
    if row is None:
        return f"{EXTRACTOR_VERSION}:{TEXT}"
    core = versions.get("tree-sitter", "none")
    return f"{EXTRACTOR_VERSION}:{row.name}:{core}:{versions.get(row.dist, 'none')}"


@once
def grammar_set() -> str:
    """Return the versions of tree-sitter and of every grammar of the table, for the fingerprint."""
    versions = installed_versions()
    dists = ["tree-sitter", *sorted({row.dist for row in LANGUAGES})]
    short = ((dist.removeprefix("tree-sitter-"), versions.get(dist, "none")) for dist in dists)
    return " ".join(f"{name}={version}" for name, version in short)


@once
def installed_versions() -> dict[str, str]:
    """Return versions of tree-sitter wheels on `sys.path`, from folder names: metadata is slow."""
    versions: dict[str, str] = {}
    for folder in sys.path:
        try:
            entries = os.listdir(folder or ".")
        except OSError:
            continue
        for entry in entries:
            if entry.startswith("tree_sitter") and entry.endswith(".dist-info"):
                dist, _, version = entry.removesuffix(".dist-info").partition("-")
                versions.setdefault(dist.replace("_", "-"), version)
    return versions
