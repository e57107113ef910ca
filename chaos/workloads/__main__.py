"""One workload, against any cluster: ``python -m logquake.chaos.workloads KIND ...``.

    python -m logquake.chaos.workloads idempotent --bootstrap 127.0.0.1:9092 \\
        --history producer-1.jsonl --topic orders --rate 500

It ends by SIGTERM or SIGINT: every outcome is written, then a last row; a second one ends it at
once. `mixed` starts one process of every other kind, each with a file of its own in the folder
that --history names.
"""

from __future__ import annotations

import argparse
import signal
import sys
from pathlib import Path
from threading import Event
from typing import NamedTuple

from logquake.chaos.workloads.mixed import run_mixed
from logquake.chaos.workloads.plan import DEFAULTS, MEANINGS, Option, Plan, WorkloadKind
from logquake.chaos.workloads.running import run_workload
from logquake.cluster.processes.lifeline import die_with


class Call(NamedTuple):
    plan: Plan
    history: Path
    process: str
    die_with: int  # the process that started it, or 0


def main() -> int:
    call = call_of(sys.argv[1:])
    if call.die_with:
        die_with(call.die_with)
    stopping = _stopped_by_signals()
    if call.plan.kind is WorkloadKind.MIXED:
        run_mixed(call.plan, call.history, stopping)
    else:
        run_workload(call.plan, call.process, call.history, stopping)
    return 0


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
        raise ValueError(f"{setting!r} is no setting of librdkafka's: NAME=VALUE")
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
