"""The list of what others' tests do: what is said where it is not true."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.suites import kafkajs
from tests.suites.kept import KeptList, differences, written
from tests.suites.rust_rdkafka import outcomes

LIST = """\
failed b::two  # ours answers late
passed a::one
passed|skipped c::three  # only with a codec
passed d::#four
"""


@pytest.fixture
def kept(tmp_path: Path) -> KeptList:
    file = tmp_path / "list.txt"
    file.write_text(LIST)
    return KeptList(file)


def test_a_true_list_has_no_differences(kept: KeptList) -> None:
    done = {"a::one": "passed", "b::two": "failed", "c::three": "skipped", "d::#four": "passed"}
    assert list(differences(done, kept.read())) == []


def test_each_difference_is_told(kept: KeptList) -> None:
    done = {"a::one": "failed", "b::two": "passed", "e::five": "passed"}
    assert list(differences(done, kept.read())) == [
        "a::one: failed, passed on the list",
        "b::two: passed, failed on the list",
        "e::five: passed, and not on the list",
        "c::three: did not run",
        "d::#four: did not run",
    ]


def test_what_does_not_pass_wants_a_reason(kept: KeptList) -> None:
    done = {"a::one": "failed", "b::two": "failed"}
    kept.write(written(done, kept))
    assert kept.file.read_text() == "failed a::one  # why?\nfailed b::two  # ours answers late\n"
    assert list(differences(done, kept.read())) == ["a::one: no reason given"]


def test_jests_report_is_read() -> None:
    report = """<testsuites><testsuite>
<testcase classname="src/a.spec.js" name="A &gt;  does"></testcase>
<testcase classname="src/a.spec.js" name="A &gt; does"><failure>it did not</failure></testcase>
<testcase classname="src/a.spec.js" name="A &gt; may"><skipped/></testcase>
</testsuite></testsuites>"""
    assert kafkajs.outcomes(report) == {
        "src/a.spec.js: A > does": "failed",
        "src/a.spec.js: A > may": "skipped",
    }


def test_cargos_verdicts_are_read_from_among_the_tests_own_lines() -> None:
    printed = """\
     Running tests/test_admin.rs (target/debug/deps/test_admin-1)
test test_topics ... ok
test test_groups ... deleting
ok
     Running tests/test_metadata.rs (target/debug/deps/test_metadata-1)
test test_metadata ... FAILED
test slow - should panic ... ignored
"""
    assert dict(outcomes(printed)) == {
        "test_admin::test_topics": "passed",
        "test_admin::test_groups": "passed",
        "test_metadata::test_metadata": "failed",
        "test_metadata::slow": "skipped",
    }
