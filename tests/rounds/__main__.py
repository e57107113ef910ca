"""Long runs on real processes: ``python -m tests.rounds COMMAND``, and ``--help``.

    python -m tests.rounds returns --rounds 100 --seed 1 --starve --evidence FOLDER
    python -m tests.rounds starts --count 300 --starve
    python -m tests.rounds rolls --rounds 4 --evidence FOLDER
    python -m tests.rounds repeats acks-1 unclean-on storm --times 20 --evidence FOLDER
    python -m tests.rounds streams --minutes 10 --rows 1000000 --evidence FOLDER
    python -m tests.rounds audits --runs 50 --evidence FOLDER

They end with 1 if a broker did not return, a start failed, something was lost, doubled or torn, a
scenario held in fewer than 19 of 20 runs, or Spark judged a run otherwise than one process did.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.rounds import audits, repeats, returns, rolls, starts, streams
from tests.rounds.faults import KINDS, Kind
from tests.rounds.rolling.load import FULL, Size
from tests.rounds.streaming import load
from tests.rounds.streaming.broker_strikes import DEEDS_WITH_LINKS
from tests.rounds.streaming.spark_strikes import STANDALONE
from tests.starving.plan import Starvation

AT_MOST_S = 6 * 3600.0


def main() -> int:
    options = _parser().parse_args()
    if options.command == "streams":
        outcomes = [_streamed(options, guarantee) for guarantee in options.guarantees]
        print(*outcomes, sep="\n")
        return 0 if all(each.is_sound for each in outcomes) else 1
    if options.command == "audits":
        compared = audits.run(audits.Plan(options.runs, options.seed, options.evidence))
        print(compared)
        return 0 if compared.are_alike else 1
    starvation = None
    if options.starve:
        starvation = Starvation(options.seed, busy_loops=options.busy_loops, at_most_s=AT_MOST_S)
    if options.command == "starts":
        started = starts.run(options.count, starvation)
        print(started)
        return 1 if started.failures else 0
    if options.command == "rolls":
        rolled = rolls.run(_rolls_plan(options, starvation))
        print(rolled)
        return 1 if rolled.faults else 0
    if options.command == "repeats":
        repeated = repeats.run(_repeats_plan(options), starvation)
        print(repeated)
        return 0 if repeated.is_sound else 1
    plan = returns.Plan(
        seed=options.seed,
        rounds=options.rounds,
        return_timeout_s=options.return_timeout_s,
        evidence=options.evidence,
        starvation=starvation,
        kinds=(Kind.KILL,) if options.kills_only else KINDS,
        config=dict(pair.split("=", 1) for pair in options.config),
    )
    outcome = returns.run(plan)
    print(f"seed {plan.seed}: {outcome}")
    return 1 if outcome.failure else 0


def _rolls_plan(options: argparse.Namespace, starvation: Starvation | None) -> rolls.Plan:
    size = Size(options.groups, options.movers, options.members, options.producers)
    return rolls.Plan(
        rounds=options.rounds,
        stable_within_s=options.stable_within_s,
        evidence=options.evidence,
        kinds=(Kind.KILL,) if options.kills_only else (Kind.STOP, Kind.KILL),
        size=size,
        starvation=starvation,
    )


def _repeats_plan(options: argparse.Namespace) -> repeats.Plan:
    return repeats.Plan(
        scenarios=tuple(options.scenarios),
        times=options.times,
        seed=options.seed,
        at_once=options.at_once,
        evidence=options.evidence,
        duration=options.duration,
    )


def _streamed(options: argparse.Namespace, guarantee: str) -> streams.Outcome:
    plan = streams.Plan(
        seed=options.seed,
        size=load.Size(options.rows, options.keys),
        seconds=options.minutes * 60,
        deeds=DEEDS_WITH_LINKS,
        spark=STANDALONE,
    )
    return streams.run(plan, guarantee, options.evidence)


def _parser() -> argparse.ArgumentParser:
    seeded = argparse.ArgumentParser(add_help=False)
    seeded.add_argument("--seed", type=int, default=1)
    shared = argparse.ArgumentParser(add_help=False, parents=[seeded])
    shared.add_argument("--starve", action="store_true")
    shared.add_argument("--busy-loops", type=int, default=4)
    parser = argparse.ArgumentParser(prog="python -m tests.rounds", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    rounds = commands.add_parser("returns", parents=[shared], help=returns.__doc__)
    rounds.add_argument("--rounds", type=int, default=20)
    rounds.add_argument("--return-timeout-s", type=float, default=90.0)
    rounds.add_argument("--kills-only", action="store_true")
    rounds.add_argument("--evidence", type=Path, default=Path("evidence"))
    rounds.add_argument("-c", "--config", action="append", default=[], metavar="KEY=VALUE")
    rolling = commands.add_parser("rolls", parents=[shared], help=rolls.__doc__)
    rolling.add_argument("--rounds", type=int, default=2)
    rolling.add_argument("--stable-within-s", type=float, default=120.0)
    rolling.add_argument("--kills-only", action="store_true")
    rolling.add_argument("--evidence", type=Path, default=Path("evidence"))
    for name in ("groups", "movers", "members", "producers"):
        rolling.add_argument(f"--{name}", type=int, default=getattr(FULL, name))
    again = commands.add_parser("repeats", parents=[shared], help=repeats.__doc__)
    again.add_argument("scenarios", nargs="+", metavar="SCENARIO")
    again.add_argument("--times", type=int, default=20)
    again.add_argument("--at-once", type=int, default=1)
    again.add_argument("--duration", metavar="TIME", help="of storms, instead of their own")
    again.add_argument("--evidence", type=Path, default=Path("evidence"))
    streaming = commands.add_parser("streams", parents=[seeded], help=streams.__doc__)
    streaming.add_argument(
        "--guarantees", nargs="+", choices=streams.GUARANTEES, default=streams.GUARANTEES
    )
    streaming.add_argument("--minutes", type=float, default=10.0)
    streaming.add_argument("--rows", type=int, default=1_000_000)
    streaming.add_argument("--keys", type=int, default=1_000)
    streaming.add_argument("--evidence", type=Path, default=Path("evidence"))
    audited = commands.add_parser("audits", parents=[seeded], help=audits.__doc__)
    audited.add_argument("--runs", type=int, default=50, help="(%(default)s)")
    audited.add_argument("--evidence", type=Path, default=Path("evidence"))
    in_a_row = commands.add_parser("starts", parents=[shared], help=starts.__doc__)
    in_a_row.add_argument("--count", type=int, default=300)
    return parser


if __name__ == "__main__":
    sys.exit(main())
