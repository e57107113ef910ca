"""``python -m benchmarks``: the command line. Without a command it runs all that need a cluster."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

import typer

from benchmarks import options
from benchmarks.consume import consume_case
from benchmarks.errors import BenchmarkError
from benchmarks.failover.clients import JAVA, LIBRDKAFKA
from benchmarks.failover.kills import measure_failover
from benchmarks.figures import Result, targets_of
from benchmarks.groups import groups_cases
from benchmarks.judging.cases import SIZES as SIZES_OF_HISTORIES
from benchmarks.judging.cases import measure_judging
from benchmarks.latency import latency_cases
from benchmarks.libraries.cases import clients_of, library_cases
from benchmarks.memory import load, memory_case
from benchmarks.option_groups import spread
from benchmarks.own_cluster import own_cluster
from benchmarks.partitions import measure_partitions
from benchmarks.pipelining import pipelining_cases
from benchmarks.produce import FEW_LOADS, LINK_LOADS, LOADS, Bound, produce_cases
from benchmarks.replicas import SIZES, measure_replicas
from benchmarks.report import Output, report
from benchmarks.rounds import Plan, measure
from benchmarks.running import running_linked, running_modes, running_targets, starters
from benchmarks.security.brokers import secured_brokers
from benchmarks.security.connects import connects_cases
from benchmarks.security.throughput import by_tls, throughput_cases
from benchmarks.spark.cases import row_cases
from benchmarks.spark.latency import latency_case
from benchmarks.spark.running import running_formats
from benchmarks.startup import startup_cases
from benchmarks.storage.works import Scale, Work, measure_storage
from benchmarks.target import Target
from benchmarks.transactions import transactions_cases
from logquake.chaos.checkers.sharing import ROWS_OF_A_SHARE

app = typer.Typer(help=__doc__, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def startup(
    brokers: options.Brokers = 3,
    rounds: options.Rounds = options.ROUNDS,
    kafka: options.Kafka = False,
    output: options.Format = Output.TABLE,
) -> None:
    """From nothing to the first acks=all ack on a new topic with three replicas."""
    _show(measure(startup_cases(), starters(brokers, kafka=kafka), Plan(rounds)), output)


@app.command()
@spread
def memory(
    whom: options.Whom = options.OURS,
    size: options.Size = options.USUAL_SIZE,
    output: options.Format = Output.TABLE,
) -> None:
    """Memory (PSS) idle, and after a load."""
    with whom.running() as targets:
        results = measure([memory_case("idle")], targets, Plan(1))
        for target in targets:
            load(target, size.bound)
        results += measure([memory_case("loaded")], targets, Plan(1))
    _show(results, output)


@app.command()
@spread
def produce(
    whom: options.Whom = options.OURS,
    size: options.Size = options.USUAL_SIZE,
    repeats: options.Repeats = options.USUAL_REPEATS,
    few: options.Few = False,
    output: options.Format = Output.TABLE,
) -> None:
    """Throughput of Produce by replicas, message and batch sizes."""
    cases = produce_cases(size.bound, FEW_LOADS if few else LOADS)
    with whom.running() as targets:
        results = measure(cases, targets, repeats.plan(targets))
    _show(results, output)


@app.command()
@spread
def pipelining(
    kafka: options.Kafka = False,
    size: options.Size = options.USUAL_SIZE,
    repeats: options.Repeats = options.USUAL_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """The modes of logquake.produce.pipelining: throughput, and what a leader change doubles."""
    with running_modes(kafka=kafka) as targets:
        cases = pipelining_cases(size.bound)
        results = measure(cases, targets, repeats.plan(targets))
    _show(results, output)


@app.command()
@spread
def links(
    size: options.BriefSize = options.BRIEF_SIZE,
    messages: options.Messages = options.MESSAGES,
    repeats: options.BriefRepeats = options.BRIEF_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """Produce and latency with proxies on all links, none broken, and without.

    The proxies' CPU counts as the brokers'.
    """
    with running_linked() as targets:
        plan = repeats.plan(targets)
        results = measure(produce_cases(size.bound, LINK_LOADS), targets, plan)
        results += measure(latency_cases(messages, size.seconds), targets, plan)
    _show(results, output)


@app.command()
@spread
def consume(
    whom: options.Whom = options.OURS,
    size: options.Size = options.USUAL_SIZE,
    repeats: options.Repeats = options.USUAL_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """Throughput of Fetch."""
    with whom.running() as targets:
        plan = repeats.plan(targets)
        results = _consume(targets, size.bound, plan)
    _show(results, output)


@app.command()
@spread
def latency(
    whom: options.Whom = options.OURS,
    messages: options.Messages = options.MESSAGES,
    seconds: options.Seconds = options.SECONDS,
    repeats: options.Repeats = options.USUAL_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """One message in flight: time from produce to ack."""
    with whom.running() as targets:
        plan = repeats.plan(targets)
        results = measure(latency_cases(messages, seconds), targets, plan)
    _show(results, output)


@app.command()
@spread
def groups(
    whom: options.Whom = options.OURS,
    seconds: options.Seconds = options.FEW_SECONDS,
    repeats: options.BriefRepeats = options.BRIEF_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """Commits, heartbeats, from subscribe to the first record, when a member leaves."""
    with whom.running() as targets, groups_cases(targets, seconds) as cases:
        results = measure(cases, targets, repeats.plan(targets))
    _show(results, output)


@app.command()
@spread
def transactions(
    whom: options.Whom = options.OURS,
    seconds: options.Seconds = options.FEW_SECONDS,
    repeats: options.BriefRepeats = options.BRIEF_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """Transactions, with offsets of a group and without."""
    with whom.running() as targets:
        results = measure(transactions_cases(seconds), targets, repeats.plan(targets))
    _show(results, output)


@app.command()
@spread
def security(
    kafka: options.Kafka = False,
    size: options.BriefSize = options.BRIEF_SIZE,
    repeats: options.BriefRepeats = options.BRIEF_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """Connects with TLS and SCRAM, and throughput over TLS: one broker each."""
    with secured_brokers(kafka=kafka) as brokers:
        targets = [by_tls(each) for each in brokers]
        plan = repeats.plan(targets)
        results = measure(connects_cases(size.seconds), brokers, plan)
        with throughput_cases(targets, size.bound) as cases:
            results += measure(cases, targets, plan)
    _show(results, output)


@app.command()
@spread
def libraries(
    size: options.BriefSize = options.BRIEF_SIZE,
    repeats: options.ManyRepeats = options.MANY_REPEATS,
    output: options.Format = Output.TABLE,
) -> None:
    """Clients for Python beside each other, to one broker of ours; "all" leaves it out."""
    with own_cluster(1) as target, library_cases(size.seconds) as cases:
        results = measure(cases, clients_of(target.bootstrap), repeats.plan([target]))
    report(results, output, results[0].target, against=targets_of(results)[1:])


@app.command()
@spread
def spark(
    repeats: options.BriefRepeats = options.BRIEF_REPEATS,
    records: options.TimedRecords = 200,
    output: options.Format = Output.TABLE,
) -> None:
    """Rows in and out of Spark, beside its own connector (LOGQUAKE_SPARK_CONNECTOR); "all" leaves
    it out.
    """
    with own_cluster(1) as target, running_formats(target.bootstrap) as formats:
        plan = repeats.plan([target])
        with row_cases(target.bootstrap) as cases:
            results = measure([*cases, latency_case(records)], formats, plan)
    _show(results, output)


@app.command()
def storage(
    works: options.Works = None,
    folder: options.Folder = options.FOLDER,
    rounds: options.Rounds = options.ROUNDS,
    output: options.Format = Output.TABLE,
) -> None:
    """Storage alone, in this process, each work beside its physical limit; by default all works.

    CPU time: leave the machine to it, which is why "all" leaves it out.
    """
    _show(measure_storage(works or list(Work), folder, rounds, Scale()), output)


@app.command()
def replicas(
    partitions: options.Partitions = None,
    folder: options.Folder = options.FOLDER,
    output: options.Format = Output.TABLE,
) -> None:
    """What partitions cost one broker: its replica manager alone, in this process.

    CPU time, a minute or two; "all" leaves it out.
    """
    _show(measure_replicas(folder, partitions or SIZES), output)


@app.command(name="partitions")
def whole_cluster(
    partitions: options.Partitions = None,
    output: options.Format = Output.TABLE,
) -> None:
    """What partitions cost a whole cluster, by their number: a fresh one for each.

    Some minutes at ten thousand; "all" leaves it out.
    """
    _show(measure_partitions(partitions or SIZES), output)


@app.command()
def judging(
    rows: options.HistoryRows = None,
    spark: options.BySpark = False,
    partitions: options.HistoryPartitions = 48,
    rows_of_a_share: options.ShareRows = ROWS_OF_A_SHARE,
    folder: options.Folder = options.FOLDER,
    output: options.Format = Output.TABLE,
) -> None:
    """The invariants of a chaos run by the length of its history, each and all; one loss is found.

    CPU time, two minutes at ten million rows; "all" leaves it out.
    """
    sizes = rows or SIZES_OF_HISTORIES
    _show(measure_judging(sizes, folder, partitions, rows_of_a_share, spark=spark), output)


@app.command()
def failover(
    kills: options.Kills = 50,
    java: options.JavaClient = False,
    load: options.Load = 0,
    output: options.Format = Output.TABLE,
) -> None:
    """From kill -9 of a leader to the next ack, with and without quick back-offs of the client.

    Some five seconds a kill; "all" leaves it out.
    """
    kinds = (*LIBRDKAFKA, *JAVA) if java else LIBRDKAFKA
    _show(measure_failover(kinds, kills, load), output)


@app.command(name="all")
@spread
def everything(
    kafka: options.Kafka = False,
    peer: options.Peers = None,
    size: options.Size = options.USUAL_SIZE,
    messages: options.Messages = options.MESSAGES,
    repeats: options.Repeats = options.USUAL_REPEATS,
    budget: options.Budget = options.BUDGET_S,
    few: options.Few = False,
    output: options.Format = Output.TABLE,
) -> None:
    """Every benchmark of a running cluster but for pipelining, one after the other."""
    began = time.monotonic()
    results: list[Result] = []
    if not few:
        results += measure(startup_cases(), starters(3, kafka=kafka), Plan(repeats.rounds))
    with running_targets(own=True, kafka=kafka, peers=peer) as targets:
        plan = repeats.plan(targets, began + budget)
        results += measure([memory_case("idle")], targets, Plan(1))
        results += measure(produce_cases(size.bound, FEW_LOADS if few else LOADS), targets, plan)
        results += measure(latency_cases(messages, size.seconds), targets, plan)
        results += _consume(targets, size.bound, plan)
        results += measure([memory_case("loaded")], targets, Plan(1))
    _show(results, output)
    print(f"all in {time.monotonic() - began:.0f} s", file=sys.stderr)


@app.callback(invoke_without_command=True)
def default(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        everything()


def _consume(targets: list[Target], bound: Bound, plan: Plan) -> list[Result]:
    with consume_case(targets, bound) as case:
        return measure([case], targets, plan)


def _show(results: Sequence[Result], output: Output) -> None:
    """Ratios are of whoever was measured first: of ours, if it was."""
    report(results, output, results[0].target)


def end_once(number: int, _frame: object) -> NoReturn:
    """A handler: whoever asks again, as timeout(1) does, finds what was begun being ended."""
    signal.signal(number, lambda *_: None)
    sys.exit(128 + number)


def main() -> None:
    signal.signal(signal.SIGTERM, end_once)
    try:
        app()
    except BenchmarkError as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
