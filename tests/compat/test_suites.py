"""What is said of suites of others is true: a slice of one of them, the whole is by command."""

from __future__ import annotations

import pytest

from tests.suites.kafka_python import unpacked_source
from tests.suites.kept import LISTS, differences, kept_list, without
from tests.suites.known import SUITES, run
from tests.suites.suite import SuiteError

pytestmark = pytest.mark.slow

SLICE = "acls or delete_groups or transactional or offset_commit or configs"
LEAST = 10


def test_what_is_said_of_kafka_pythons_suite_is_true() -> None:
    try:
        unpacked_source()
    except SuiteError as error:
        pytest.skip(f"kafka-python's source distribution is not to be had: {error}")
    outcomes = run(SUITES["kafka-python"], only=SLICE)
    kept = kept_list("kafka-python").read()
    assert list(differences(outcomes, without(without(outcomes, kept), kept))) == []
    assert len(outcomes) >= LEAST


@pytest.mark.parametrize("suite", [file.stem for file in sorted(LISTS.glob("*.txt"))])
def test_whatever_does_not_pass_has_a_reason(suite: str) -> None:
    kept = kept_list(suite).read()
    assert [test for test, each in kept.items() if not each.is_explained] == []
