"""Break a cluster on purpose, and prove what survived."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from logquake.chaos.workloads.plan import ClientLibrary
from logquake.cluster.cli.options import Output, wants_json
from logquake.cluster.cli.times import seconds
from logquake.cluster.errors import ClusterError

app = typer.Typer(
    help="Break a cluster on purpose, and prove what survived.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Scenario = Annotated[
    str, typer.Argument(metavar="SCENARIO", help="A name or number of `chaos list`, or a file.")
]
Folder = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a run, or its run.yaml.")
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report", metavar="DIR", help="Where all of it goes. [default: ./chaos-NAME-...]"
    ),
]
Keep = Annotated[
    bool, typer.Option("--keep", help="Keep the replicas' files whatever the verdict.")
]
Watched = Annotated[
    bool,
    typer.Option(
        "--card", help="Watch what clients ask, and print each client's report card at the end."
    ),
]
Kafka = Annotated[
    bool, typer.Option("--kafka", help="Of Apache Kafka's brokers, from $LOGQUAKE_KAFKA_LIBS.")
]
Client = Annotated[
    list[ClientLibrary] | None,
    typer.Option(
        help="Over which all workloads run, instead of what the scenario says of each; said more "
        "than once, each workload runs over each of them, in one storm. "
        "java takes a JDK, and Kafka's jars from $LOGQUAKE_KAFKA_LIBS."
    ),
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="The verdict alone.")]


@app.command("list")
def list_scenarios(output: Output = "table") -> None:
    """The scenarios that come with logquake, and what some of them still lack."""
    as_json = wants_json(output)
    _needs_extra()
    from logquake.chaos.cli.printing import print_catalogue

    print_catalogue(as_json=as_json)


@app.command()
def show(scenario: Scenario) -> None:
    """The file of a scenario: to read, or to change and run."""
    _needs_extra()
    from logquake.chaos.scenarios.files import find_scenario, write_scenario

    print(write_scenario(find_scenario(scenario)), end="")


@app.command()
def run(
    scenario: Scenario = "storm",
    seed: Annotated[
        int | None, typer.Option(help="Of the schedule and the workloads. [default: any]")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="Of a storm, instead of the scenario's own.")
    ] = None,
    report: Report = None,
    keep: Keep = False,
    card: Watched = False,
    kafka: Kafka = False,
    client: Client = None,
    quiet: Quiet = False,
) -> None:
    """Start a cluster, break it as the scenario says, and judge what survived.

    A seed fixes the schedule: which fault begins when. It does not fix what processes do in
    between, so another run with the same seed may end otherwise. tests/sim has exact replay.

    Status 0: what was to hold held; 1: an invariant broke; 2: usage; 3: no cluster could be
    started, say; 4: inconclusive.
    """
    limit = None if duration is None else seconds(duration)
    _needs_extra()
    from logquake.chaos.cli.starting import Manner, run_scenario

    clients = tuple(client or ())
    manner = Manner(report, keep=keep, card=card, kafka=kafka, clients=clients, quiet=quiet)
    raise typer.Exit(run_scenario(scenario, seed, limit, manner))


@app.command()
def replay(folder: Folder, report: Report = None, keep: Keep = False, quiet: Quiet = False) -> None:
    """Run again what was run: the same schedule and seed, though not the same interleaving.

    The file run.yaml in the folder may be edited before.
    """
    _needs_extra()
    from logquake.chaos.cli.starting import Manner, replay_run

    raise typer.Exit(replay_run(folder, Manner(report, keep=keep, quiet=quiet)))


@app.command()
def shrink(
    folder: Folder,
    tries: Annotated[
        int, typer.Option(min=1, help="Runs without a failure before a schedule is thought sound.")
    ] = 2,
    report: Report = None,
) -> None:
    """Find the fewest faults with which a failed run still fails, by running it again and again.

    Those that stood when it broke are tried first, and what is left out leaves no pause. What
    fails by chance is found by chance: more tries make the outcome more certain. Ctrl-C ends it
    with the fewest so far.
    """
    _needs_extra()
    from logquake.chaos.cli.shrinks import shrink_run

    raise typer.Exit(shrink_run(folder, tries, report))


@app.command()
def report(folder: Folder) -> None:
    """Write the page of a run anew: report.html, one file that needs nothing else."""
    _needs_extra()
    from logquake.chaos.cli.starting import report_run

    report_run(folder)


@app.command()
def card(
    folder: Folder,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=NUMBER",
            help="The most that a figure may be, or a part of it: duplicates=0, "
            "unavailable_ms.produce=5000. Several may be said.",
        ),
    ] = None,
    output: Output = "table",
) -> None:
    """What each client of a run did under each fault: its report card.

    Status 0: no limit was exceeded; 1: one was; 2: usage.
    """
    as_json = wants_json(output)
    _needs_extra()
    from logquake.chaos.cli.cards import show_card

    raise typer.Exit(show_card(folder, limit or (), as_json=as_json))


@app.command()
def bugs(output: Output = "table") -> None:
    """The bugs that can be planted into brokers, and by what each is found.

    LOGQUAKE_PLANTED_BUG=NAME in the environment of `logquake up` or `logquake broker` plants one.
    """
    as_json = wants_json(output)
    _needs_extra()
    from logquake.chaos.cli.hunts import list_bugs
    from logquake.planted.bugs import BUGS

    list_bugs(BUGS, as_json=as_json)


@app.command()
def hunt(
    bug: Annotated[
        str | None, typer.Argument(metavar="[BUG]", help="A name of `chaos bugs`.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="One after the other.")] = False,
    sound: Annotated[
        bool, typer.Option("--sound", help="Without the bug: nothing may be found.")
    ] = False,
    report: Report = None,
    quiet: Quiet = False,
    output: Output = "table",
) -> None:
    """Plant a bug into a cluster's brokers, and see whether it is found, its cause named.

    Status 0: caught within its budget; 1: missed; 2: usage; 3: no cluster could be started, say.
    """
    as_json = wants_json(output)
    if every == (bug is not None):
        raise ClusterError("name a bug of `logquake chaos bugs`, or say --all")
    _needs_extra()
    from logquake.chaos.cli.hunts import hunt_bugs
    from logquake.chaos.hunts.hunting import bugs_to_hunt, hunted

    chosen = hunted(sound=sound) if bug is None else (bugs_to_hunt(bug),)
    raise typer.Exit(hunt_bugs(chosen, report, sound=sound, as_json=as_json, quiet=quiet))


def _needs_extra() -> None:
    """Raises ClusterError where the packages of the extra are missing."""
    try:
        import confluent_kafka  # noqa: F401
        import jinja2  # noqa: F401
        import pydantic  # noqa: F401
        import yaml  # noqa: F401
    except ImportError as error:
        raise ClusterError(
            f"{error.name} is not installed: pip install 'logquake[chaos]'"
        ) from None
