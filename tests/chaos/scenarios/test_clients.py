from __future__ import annotations

import pytest

from logquake.chaos.scenarios.clients import needs_java, over_clients
from logquake.chaos.scenarios.files import find_scenario, read_scenario, write_scenario
from logquake.chaos.scenarios.steps import Start
from logquake.chaos.workloads.plan import ClientLibrary

MIXED = """\
name: both
title: One program of each sort
workloads:
- {name: ours, kind: plain, options: {rate: 5}}
- {name: theirs, kind: command, options: {command: ./shop}}
- {name: hasty, kind: impatient, options: {rate: 5}}
steps:
- start: {name: late, kind: reader}
- rest: 1s
"""


def test_all_workloads_run_over_the_client_that_is_said() -> None:
    scenario = over_clients(read_scenario(MIXED, "both"), [ClientLibrary.JAVA])
    ours, theirs, hasty = scenario.workloads
    assert ours.options == {"rate": 5, "client": "java"}
    assert hasty.options == {"rate": 5}
    assert theirs.command == "./shop"
    late, _ = scenario.steps or ()
    assert isinstance(late, Start)
    assert late.start.options == {"client": "java"}
    assert read_scenario(write_scenario(scenario), "both") == scenario


def test_java_is_needed_where_any_program_runs_over_it() -> None:
    scenario = read_scenario(MIXED, "both")
    assert not needs_java(scenario)
    assert needs_java(over_clients(scenario, [ClientLibrary.JAVA]))
    assert not needs_java(over_clients(scenario, [ClientLibrary.CONFLUENT]))
    only_late = over_clients(scenario, [ClientLibrary.JAVA]).model_copy(update={"workloads": ()})
    assert needs_java(only_late)


def test_each_workload_of_a_storm_runs_over_each_of_several_clients() -> None:
    scenario = over_clients(find_scenario("clients"), [ClientLibrary.OWN, ClientLibrary.CONFLUENT])
    pairs = list(zip(scenario.workloads[::2], scenario.workloads[1::2], strict=True))
    for ours, librdkafkas in pairs:
        assert ours.kind == librdkafkas.kind
        assert ours.options == {**librdkafkas.options, "client": "logquake"}
        assert librdkafkas.options["client"] == "confluent-kafka"
    assert [ours.name for ours, _ in pairs] == [
        f"{one.name}-logquake" for one in find_scenario("clients").workloads
    ]


def test_a_program_that_runs_over_one_alone_is_there_once() -> None:
    text = MIXED[: MIXED.index("steps:")] + "storm: {duration: 5s, per_minute: 5, kinds: {kill: 1}}"
    both = over_clients(read_scenario(text, "both"), [ClientLibrary.OWN, ClientLibrary.JAVA])
    names = [one.name for one in both.workloads]
    assert names == ["ours-logquake", "ours-java", "theirs", "hasty-logquake"]


def test_steps_that_name_programs_want_one_client() -> None:
    scenario = read_scenario(MIXED, "both")
    with pytest.raises(ValueError, match="run it once with each --client"):
        over_clients(scenario, [ClientLibrary.OWN, ClientLibrary.CONFLUENT])
