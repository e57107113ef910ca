from __future__ import annotations

import pytest

from logquake.chaos.plugin.failure_report import folder_name
from logquake.chaos.plugin.topic_names import topic_of


@pytest.mark.parametrize(
    ("test", "topic"),
    [
        ("test_failover", "test_failover"),
        ("test_failover[3-all]", "test_failover-3-all"),
        ("test_überfüllt[ä/b]", "test_-berf-llt-b"),
        ("t" * 200, "t" * 100),
    ],
)
def test_a_topic_bears_the_name_of_its_test(test: str, topic: str) -> None:
    assert topic_of(test) == topic


def test_a_folder_bears_the_name_of_its_test() -> None:
    assert folder_name("tests/test_a.py::TestB::test_c[1/2]") == "tests-test_a.py-TestB-test_c-1-2"
    assert len(folder_name("a/" * 300)) <= 100
