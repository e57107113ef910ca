"""Scenarios as people write them, and where a mistake is."""

from __future__ import annotations

from pathlib import Path

import pytest

from logquake.chaos.scenarios.files import catalogue, find_scenario, read_scenario, write_scenario
from logquake.cluster.errors import ClusterError

WRITTEN = """\
# Begun by hand.
name: cut-followers
title: The followers stop hearing of the leader
explanation: |
  What the leader acks alone,
  it loses alone.
setup:
  topics:
  - name: orders
    replicas:
    - [1, 2, 3]
workloads:
- name: producer
  kind: plain
  options: {acks: 1}
steps:
- say: Brokers 2 and 3 fall silent.
  begin:
    kind: partition
    groups:
    - [1]
    - [2, 3]
  as: silence
- await: {isr: orders/0, size: 1}
  within: 20s
- {rest: 2s}
- {heal: silence}
expect:
  verdicts: {durable: broken}
  seen:
  - row: {what: refused, why: NOT_ENOUGH.*}
    at_least: 2
"""
HEAD = "name: x\ntitle: x\n"


def test_a_scenario_is_written_as_it_was_read() -> None:
    scenario = read_scenario(WRITTEN, "here")
    assert write_scenario(scenario, "Begun by hand.") == WRITTEN


def test_every_scenario_of_the_catalogue_can_be_written_again() -> None:
    for scenario in catalogue():
        assert read_scenario(write_scenario(scenario), scenario.name) == scenario


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "here is no YAML"),
        ("title: x", "here: name: Field required"),
        (HEAD + "steps: [{say: hello}]", "steps.0: a step says one of begin, heal, start, rest"),
        (HEAD + "steps: [{heal: cut}]", "cut is healed, and nothing of that name was begun"),
        (HEAD + "steps: [{await: {isr: orders/0}}]", "which size of the isr"),
        (HEAD + "steps: [{begin: {kind: kill}}]", "target: Field required"),
        (HEAD + "steps: []\nstorm: {}", "say one of storm, schedule, steps"),
        (HEAD + "storm: {shortest: 5s, longest: 3s}", "shortest is 5.0 s, longest 3.0 s"),
        (HEAD + "expect: {verdicts: {durable: maybe}}", "expect.verdicts.durable"),
        (HEAD + "setup: {topics: [{name: t, replicas: []}]}", "replicas of 0 partitions"),
    ],
)
def test_a_mistake_is_told_with_its_place_in_one_line(text: str, said: str) -> None:
    with pytest.raises(ClusterError) as told:
        read_scenario(text, "here")
    assert said in str(told.value)
    assert "\n" not in str(told.value)


def test_a_scenario_is_found_by_name_or_number_or_as_a_file(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(WRITTEN)
    assert find_scenario(str(path)).name == "cut-followers"
    with pytest.raises(ClusterError, match="'nothing' is no scenario and no file"):
        find_scenario("nothing")
