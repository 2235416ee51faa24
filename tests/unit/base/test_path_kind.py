"""What paths say: one row per rule, and a neighbour that the rule does not mean."""

from __future__ import annotations

import pytest

from gitindex.base.path_kind import FileKinds, file_kinds, is_foreign, is_news, is_test, place_of
from gitindex.base.vocabulary import PathKind

ROWS = {
    "test": (
        "tests/a.py spec/a.rb a/__tests__/b.js e2e/a.ts my-tests/a.c x_test/a.go tests-ng/a.c"
        " appTest/a.kt Acme.Core.Tests/a.cs test-utils/a.js test_a.py a_test.go a-tests.js a.test.ts"
        " a.test-d.ts a.cy.js test.py FooTest.java FooSpec.scala a_spec.rb conftest.py run.bats",
        "contest/a.py latest/a.py Test/a.py attest.py test_a.bash a.test.t-s Footest.java testing.py"
        " my+tests/a.c tests-/a.c é-x_test_/a.c",
    ),
    "example": ("examples/a.py Demo/a.js example_app.py samples.py", "a/my_example.py"),
    "docs": ("docs/a.py README.md a.RST man/x.c", "doctor/a.py a.mdz"),
    "data": ("a.json a/b.YAML Makefile a/license x.pot", "a.jsonl Makefile.py"),
    "foreign": (
        "vendor/a.go third-party/a.c a/Dist/x.js a.min.js x_pb2.py x_pb2_grpc.py a.pb.go"
        " zz_generated.go zz_generated_x/a.go Cargo.lock go.sum a.generated.ts",
        "vendors/a.go distribution/a.c pb.py apb2.py my_go.sum",
    ),
    "news": (
        "CHANGES.rst changelog/1.md History news-2020.md release_notes.txt a/release-notes-2/b.md",
        "changed.py newsletter.md prehistory.md change_x.py",
    ),
    "stub": ("a.pyi a.d.ts a.d.mts", "a.d.js a.PYI"),
    "hidden": (".github/a.yml a/.eslintrc", "a./b.py"),
    "legacy": ("v1/a.go V12/a.go a/legacy/b.c", "v1a/a.go v/a.go bold/a.c"),
    "benchmark": ("bench/a.rs my-benchmarks/a.js perf/a.c a_bench.py bench.a.js", "a/workbench.py"),
    "tool": ("scripts/a.sh buildSrc/a.kt ci/a.sh", "Scripts/a.sh script.sh"),
}


@pytest.mark.parametrize("kind", ROWS)
def test_each_kind_is_said_by_its_names(kind: str) -> None:
    meant, other = (text.split() for text in ROWS[kind])
    assert [path for path in meant if not getattr(file_kinds(path), kind)] == []
    assert [path for path in other if getattr(file_kinds(path), kind)] == []


def test_the_short_questions_agree_with_all_kinds() -> None:
    for text in (text for pair in ROWS.values() for text in pair):
        for path in text.split():
            kinds = file_kinds(path)
            assert (is_test(path), is_foreign(path), is_news(path)) == (
                kinds.test,
                kinds.foreign,
                kinds.news,
            )


def test_plain_code_has_no_kind_and_tests_come_before_documents() -> None:
    assert file_kinds("src/app.py") == FileKinds()
    assert place_of("src/app.py") is PathKind.CODE
    assert place_of("docs/guide.md") is PathKind.DOCS
    assert place_of("tests/readme.md") is PathKind.TESTS
