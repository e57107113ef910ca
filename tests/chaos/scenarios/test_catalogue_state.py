from __future__ import annotations

from logquake.chaos.scenarios.catalogue_state import lacking
from logquake.chaos.scenarios.files import find_scenario
from logquake.chaos.scenarios.scenario import Scenario


def of_kafka(name: str) -> Scenario:
    scenario = find_scenario(name)
    return scenario.model_copy(update={"setup": scenario.setup.model_copy(update={"kafka": True})})


def test_processes_and_links_of_apache_kafka_are_broken_as_ours_are() -> None:
    for name in ("acks-1", "slow-follower", "lost-answer", "zombie-consumer", "storm"):
        assert lacking(of_kafka(name)) is None


def test_what_happens_inside_of_ours_is_not_done_to_apache_kafka() -> None:
    assert "power-loss" in (lacking(of_kafka("power-cut")) or "")


def test_nobody_waits_for_a_journal_that_is_not_written() -> None:
    told = lacking(of_kafka("no-quorum")) or ""
    assert "zookeeper-disconnected" in told
