"""What the benchmarks make of their figures; nothing is measured here."""

from __future__ import annotations

import inspect
import os
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from benchmarks import figures as told
from benchmarks.__main__ import end_once
from benchmarks.clients.driver import Pause, Readable, run, until
from benchmarks.errors import BenchmarkError
from benchmarks.figures import WARM_UP, Figures, Result
from benchmarks.option_groups import spread
from benchmarks.report import markdown
from benchmarks.rounds import Case, Plan, measure
from benchmarks.spark.formats import Cpu, spent_s
from benchmarks.warmth import warm_up


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def rates(self, *rates: float) -> Callable[[], float]:
        """One rate after the other, each after a second."""
        left = iter(rates)

        def rate() -> float:
            self.now_s += 1
            return next(left)

        return rate


@pytest.mark.parametrize(
    "rates",
    [
        pytest.param((10, 10, 10, 10), id="never rose"),
        pytest.param((10, 20, 30, 30.5, 29, 30), id="rises are not noise"),
        pytest.param((10, 9, 10, 11, 11, 8, 11), id="three in a row"),
    ],
)
def test_a_target_is_warm_when_three_rounds_in_a_row_no_longer_rise(rates: list[float]) -> None:
    clock = Clock()
    warmth = warm_up(clock.rates(*rates), 100, lambda: clock.now_s)
    assert (warmth.rounds, warmth.seconds, warmth.is_steady) == (len(rates), len(rates), True)


def test_a_warm_up_ends_when_its_time_is_up() -> None:
    clock = Clock()
    warmth = warm_up(clock.rates(*range(10, 100, 10)), 5, lambda: clock.now_s)
    assert (warmth.rounds, warmth.is_steady) == (5, False)
    assert str(warmth) == "still rising after 5 s and 5 rounds"


@pytest.mark.parametrize(
    ("figures", "rises"),
    [({"commits/s": 9.0, "p50 ms": 2.0}, 9.0), ({"p50 ms": 2.0}, 0.5), ({"PSS MB": 1.0}, 0.0)],
)
def test_what_rises_is_how_much_in_a_second_or_how_soon(figures: Figures, rises: float) -> None:
    assert told.rate(figures) == rises


def test_clients_wait_for_each_other_and_answer_in_their_order() -> None:
    reader, writer = os.pipe()

    async def hears() -> bytes:
        await until(Readable(reader))
        return os.read(reader, 9)

    async def tells() -> bytes:
        for word in (b"good ", b"news"):
            os.write(writer, word)
            await until(Pause(0))
        return b"told"

    assert run([hears(), tells()]) == [b"good ", b"told"]
    os.close(writer)
    os.close(reader)


def test_a_client_that_is_not_answered_ends_the_run() -> None:
    reader, writer = os.pipe()

    async def waits() -> None:
        await until(Readable(reader))

    with pytest.raises(BenchmarkError, match="1 clients still wait for their brokers"):
        run([waits()], timeout_s=0)
    os.close(writer)
    os.close(reader)


@dataclass(frozen=True)
class Target:
    name: str


def test_targets_take_turns_once_both_are_warm() -> None:
    order: list[str] = []

    def run(target: Target) -> Figures:
        order.append(target.name)
        return {"MB/s": 1.0}

    def warm(target: Target) -> Figures:
        order.append(f"warm {target.name}")
        return {"MB/s": 1.0}

    results = measure([Case("c", run, warm)], [Target("a"), Target("b")], Plan(2, warm_up_s=60))
    assert order == ["warm a"] * 4 + ["warm b"] * 4 + ["a", "b", "a", "b"]
    assert all(WARM_UP in result.figures for result in results)


def test_the_table_to_paste_has_medians_and_the_ratio_of_the_first_to_the_last() -> None:
    def results() -> Iterator[Result]:
        for number, rate in enumerate((300.0, 200.0, 250.0), 1):
            yield Result("produce", "ours", number, {"MB/s": rate, WARM_UP: 4.0})
            yield Result("produce", "kafka", number, {"MB/s": rate / 5, WARM_UP: 40.0})

    assert markdown(list(results()), "ours") == [
        "| case | figure | ours | kafka | ours / kafka |",
        "| --- | --- | --- | --- | --- |",
        "| produce | MB/s | 250 | 50 | 5 |",
        "| produce | warm-up s | 4 | 40 | - |",
    ]


@dataclass(frozen=True)
class Pace:
    rounds: int = 3
    seconds: float = 4.0


def test_options_that_go_together_stand_on_the_command_line_by_themselves() -> None:
    seen: list[tuple[str, Pace, bool]] = []

    @spread
    def command(name: str, pace: Pace = Pace(), quiet: bool = False) -> None:
        seen.append((name, pace, quiet))

    parameters = inspect.signature(command).parameters
    assert {each.name: each.annotation for each in parameters.values()} == {
        "name": str,
        "rounds": int,
        "seconds": float,
        "quiet": bool,
    }
    assert [each.default for each in parameters.values()][1:] == [3, 4.0, False]
    command(name="a")
    command(name="b", rounds=7, quiet=True)
    assert seen == [("a", Pace(), False), ("b", Pace(rounds=7), True)]


def test_who_is_asked_to_end_twice_ends_once() -> None:
    """timeout(1) signals the process and then its group: what was begun is being ended by then."""
    before = signal.signal(signal.SIGTERM, end_once)
    try:
        with pytest.raises(SystemExit):
            signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)


def test_cpu_of_processes_that_ended_is_that_of_whoever_started_them() -> None:
    jvm, daemon, worker, another = range(4)
    before = {jvm: Cpu(5, 0), daemon: Cpu(1, 0), worker: Cpu(2, 0)}
    assert spent_s(before, {jvm: Cpu(6, 0), daemon: Cpu(1, 3), another: Cpu(4, 0)}) == 1 + 4 + 1
    # The daemon has ended too, and the worker of it is nobody's.
    assert spent_s(before, {jvm: Cpu(6, 1)}) == 1
