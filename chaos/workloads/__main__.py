"""One workload, against any cluster: ``python -m logquake.chaos.workloads KIND ...``.

    python -m logquake.chaos.workloads idempotent --bootstrap 127.0.0.1:9092 \\
        --history producer-1.jsonl --topic orders --rate 500

It ends by SIGTERM or SIGINT: every outcome is written, then a last row; a second one ends it at
once. `mixed` starts one process of every other kind, each with a file of its own in the folder
that --history names. With `--client java` it becomes a JVM, whose jars LOGQUAKE_KAFKA_LIBS names.
"""

from __future__ import annotations

import argparse
import faulthandler
import os
import signal
import sys
from pathlib import Path
from threading import Event
from typing import NamedTuple

from logquake.chaos.workloads.java_program import java_program
from logquake.chaos.workloads.mixed import run_mixed
from logquake.chaos.workloads.plan import (
    DEFAULTS,
    MEANINGS,
    ClientLibrary,
    Option,
    Plan,
    WorkloadKind,
)
from logquake.chaos.workloads.processes import SAY_WHERE
from logquake.cluster.errors import ClusterError
from logquake.cluster.processes.lifeline import die_with

USAGE = 2


class Call(NamedTuple):
    plan: Plan
    history: Path
    process: str
    die_with: int  # the process that started it, or 0


def main() -> int:
    call = call_of(sys.argv[1:])
    faulthandler.register(SAY_WHERE)
    if call.die_with:
        die_with(call.die_with)
    try:
        _carry_out(call)
    except ClusterError as error:
        print(f"error: {error}", file=sys.stderr)
        return USAGE
    return 0


def _carry_out(call: Call) -> None:
    """Raises ClusterError where Java's client is not at hand."""
    if call.plan.kind is WorkloadKind.MIXED:
        run_mixed(call.plan, call.history, _stopped_by_signals())
    elif call.plan.client is ClientLibrary.JAVA:
        command = java_program().command(call.plan, call.process, call.history)
        os.execv(command[0], command)
    else:
        # Here, since one that becomes a JVM has no use for librdkafka.
        from logquake.chaos.workloads.running import run_workload

        run_workload(call.plan, call.process, call.history, _stopped_by_signals())


def call_of(arguments: list[str]) -> Call:
    """Ends the program, as argparse does, for what makes no sense."""
    parser = _parser()
    options = vars(parser.parse_args(arguments))
    kind, bootstrap, history = (options.pop(name) for name in ("kind", "bootstrap", "history"))
    process, config = options.pop("process") or history.stem, options.pop("config")
    parent = options.pop("die_with")
    try:
        plan = Plan.of(kind, bootstrap, {**options, **dict(map(_pair, config))})
    except ValueError as error:
        parser.error(str(error))
    return Call(plan, history, process, parent)


def _stopped_by_signals() -> Event:
    stopping = Event()

    def stop(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stopping.set()

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    return stopping


def _pair(setting: str) -> tuple[str, Option]:
    name, separator, value = setting.partition("=")
    if not separator or "." not in name:
        raise ValueError(f"{setting!r} is no setting of a client's: NAME=VALUE")
    return name, value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m logquake.chaos.workloads",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("kind", choices=[str(kind) for kind in WorkloadKind])
    parser.add_argument("--bootstrap", required=True, metavar="HOST:PORT,...")
    parser.add_argument("--history", required=True, type=Path, help="a file that is not there yet")
    parser.add_argument("--process", default="", help="its name [default: the file's, bare]")
    parser.add_argument("--die-with", type=int, default=0, metavar="PID", help="its parent")
    parser.add_argument("-c", "--config", action="append", default=[], metavar="NAME=VALUE")
    for name, default in DEFAULTS.items():
        meaning = (
            MEANINGS[name] if "[default" in MEANINGS[name] else f"{MEANINGS[name]} [{default}]"
        )
        flag = f"--{name.replace('_', '-')}"
        parser.add_argument(flag, dest=name, default=default, metavar="VALUE", help=meaning)
    return parser


if __name__ == "__main__":
    sys.exit(main())
