from __future__ import annotations

from logquake.chaos.scenarios.clients import needs_java, over_client
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
    scenario = over_client(read_scenario(MIXED, "both"), ClientLibrary.JAVA)
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
    assert needs_java(over_client(scenario, ClientLibrary.JAVA))
    assert not needs_java(over_client(scenario, ClientLibrary.CONFLUENT))
    only_late = over_client(scenario, ClientLibrary.JAVA).model_copy(update={"workloads": ()})
    assert needs_java(only_late)


def test_a_scenario_has_both_clients_side_by_side() -> None:
    scenario = find_scenario("both-clients")
    assert needs_java(scenario)
    pairs = zip(scenario.workloads[::2], scenario.workloads[1::2], strict=True)
    for librdkafkas, javas in pairs:
        assert librdkafkas.kind == javas.kind
        assert javas.options == {**librdkafkas.options, "client": "java"}
