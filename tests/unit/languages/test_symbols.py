"""Definitions that grammars write in unusual ways: several names at once, blanks, computed keys."""

from __future__ import annotations

import pytest

from gitindex.languages.syntax.extract import extract_facts

CASES = {
    "items in Rust's item macros": (
        "rust",
        "cfg_if! { if #[cfg(unix)] { pub fn a(x: u8) -> *const Foo { const L: u8 = 1; } struct P { z: u8 } }"
        " }\n"
        "lazy_static! { pub static ref X: u8 = 1; }\nbitflags! { pub struct Flags: u32 { const A = 1; } }\n"
        "fn m() { quote! { fn local() {} } }\n",
        "a P X Flags A m",
    ),
    "macros of C that declare": (
        "c",
        "DECLARE_HASHTABLE(table, 3);\nLIST_HEAD(head);\nDEFINE_PER_CPU(int, counter);\n"
        "int f(void) { LIST_HEAD(x); }\n",
        "table head f",
    ),
    "types of C that grammars know": ("c", "typedef unsigned char uint8_t;\n", "uint8_t"),
    "members of C++ with blanks, and what names them twice": (
        "cpp",
        "struct __device_builtin__ __align__(16) H { ~ H(); operator const int *() const; };\n"
        'H:: ~ H () { }\nfloat operator "" _e(const char*);\ntypedef int T, &U;\n'
        "__device__ volatile int v = 1;\n",
        'H H.~H H.operator const int * H.~H operator""_e T U v',
    ),
    "aliases of PHP": (
        "php",
        "<?php\nclass A { use T { foo as bar; baz as protected qux; } }\nclass_alias('A', 'B');\n",
        "A A.bar A.qux B",
    ),
    "several names of one attr_*": (
        "ruby",
        'class A\n  attr_accessor :one, :two\n  attr_reader :three, "four"\n  attr :five\nend\n',
        "A A.one A.two A.three A.four A.five",
    ),
    "operators of C++": (
        "cpp",
        "struct Y { bool operator==(Y); Y& operator = (Y); void operator () (int); int* operator->();\n"
        "  int operator [] (int); };\nstd::ostream & operator << (std::ostream& o, Y y) { return o; }\n",
        "Y Y.operator== Y.operator= Y.operator() Y.operator-> Y.operator[] operator<<",
    ),
    "attributes of C++": (
        "cpp",
        "[[nodiscard]] int one(int x) { return x; }\nint two [[gnu::pure]] (int x) { return x; }\n"
        "class [[deprecated]] Three {};\n__attribute__((noinline)) void four() {}\n"
        "struct alignas(16) Five { int v; };\n",
        "one two Three four Five Five.v",
    ),
    "nested namespaces of C++": (
        "cpp",
        "namespace a::b::c { class X {}; }\ninline namespace v1 { void f() {} }\n",
        "a.b.c a.b.c.X v1 v1.f",
    ),
    "functions of old C": ("c", "int kr(a, b)\n  int a;\n  char *b;\n{ return a; }\n", "kr"),
    "PHP in HTML": (
        "php",
        "<html><?php function first($a) { return $a; } ?>\n<p><?= first(1) ?></p>\n<?php class K {\n"
        "public function m() { ?> <b>text</b> <?php }\n} ?>\n<?php function last() {} ?></html>\n",
        "first K K.m last",
    ),
    "prototypes and exports of JavaScript": (
        "javascript",
        "function A() {}\nA.prototype.one = function () {};\nA.prototype.two = () => 1;\n"
        "Object.assign(A.prototype, { three() {}, four: function () {} });\n"
        "exports.five = function () {};\nmodule.exports.six = () => 1;\n"
        "module.exports = { A, seven: function () {}, eight() {} };\n",
        "A A.one A.two three four exports.five module.exports.six seven eight",
    ),
    "computed keys": (
        "javascript",
        "const k = 1\nclass C { [k]() {} ['lit']() {} [Symbol.iterator]() {} 'quoted'() {} }\n"
        "exports['dyn'] = function () {}\n",
        "k C C.[k] C.lit C.[Symbol.iterator] C.quoted dyn",
    ),
    "lambdas with typed parameters": (
        "kotlin",
        "class A {\n  val f = { x: Int, y: String -> x + 1 }\n"
        "  fun run() { list.map { item: Foo -> item.name } }\n  fun after() {}\n}\nfun last() {}\n",
        "A A.f A.run A.after last",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_unusual_definitions(case: str) -> None:
    language, text, names = CASES[case]
    facts = extract_facts(text.encode(), language)
    assert " ".join(symbol.qualified for symbol in facts.symbols) == names
