"""Strikes one after the other, on brokers and on Spark at once, until it is enough."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from threading import Event, Thread
from types import TracebackType
from typing import Self

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.cluster import RunningCluster
from tests.rounds.streaming import broker_strikes, spark_strikes
from tests.rounds.streaming.broker_strikes import Deed, Offices
from tests.rounds.streaming.driver import Driver
from tests.rounds.streaming.spark_strikes import SparkStrike

_WHOLE_WITHIN_S = 600.0
_MOVES_WITHIN_S = 900.0
_LOOK_EVERY_S = 0.2


@dataclass(frozen=True, slots=True)
class Weather:
    """``at_most`` so many strikes of each kind; between two of them ``calm_s`` at most."""

    seed: int
    deeds: tuple[Deed, ...]
    spark: tuple[SparkStrike, ...]
    replicas: int
    calm_s: float = 8.0
    at_most: int | None = None


@dataclass
class Storm:
    """Two threads. ``error`` is why one of them gave up."""

    kafka: RunningCluster
    offices: Offices
    driver: Driver
    weather: Weather
    on_strike: Callable[[str], None]
    strikes: Counter[str] = field(default_factory=Counter)
    error: Exception | None = None

    def __post_init__(self) -> None:
        self._stopping = Event()
        self._deck: list[SparkStrike] = []
        self._threads = [
            Thread(target=self._run, args=(each,), name=each.__name__)
            for each in (self._strike_broker, self._strike_spark)
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What is broken is mended first."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def is_over(self) -> bool:
        return not any(thread.is_alive() for thread in self._threads)

    def _run(self, strike_once: Callable[[Random], bool]) -> None:
        """Strikes that met nobody are drawn again."""
        random = Random(f"{self.weather.seed} {strike_once.__name__}")
        struck = 0
        try:
            self._wait_until_it_moves()
            while struck != self.weather.at_most and not self._stopping.is_set():
                struck += strike_once(random)
                self._stopping.wait(random.uniform(0, self.weather.calm_s))
        except (ClusterError, AssertionError) as error:
            self.error = error

    def _strike_broker(self, random: Random) -> bool:
        """And all that it leads, until every ISR is whole again."""
        strike = broker_strikes.draw(random, self.offices, self.weather.deeds)
        try:
            fault = broker_strikes.begin(self.kafka, strike)
        except ClusterError:
            return False  # nobody has that office at the moment
        with fault:
            self._note(strike.deed.value, f"{strike} ({fault.member})")
            self._stopping.wait(strike.lasts_s)
        for at in self.kafka.view.all_partitions():
            self.kafka.wait_isr(at.topic, at.partition, self.weather.replicas, _WHOLE_WITHIN_S)
        return True

    def _strike_spark(self, random: Random) -> bool:
        """Until an epoch more is through: so each is met amid its work, and the stream goes on."""
        what = self._next(random)
        if not spark_strikes.strike(self.driver, what, random):
            return False
        self._note(str(what), str(what))
        self._wait_until_it_moves()
        return True

    def _next(self, random: Random) -> SparkStrike:
        """Of each round all in some order: so each has its turn."""
        if not self._deck:
            self._deck = random.sample(self.weather.spark, len(self.weather.spark))
        return self._deck.pop()

    def _wait_until_it_moves(self) -> None:
        """AssertionError where it does not for long."""
        began, epoch = time.monotonic(), self.driver.told().epoch
        while self.driver.told().epoch <= epoch and not self._stopping.wait(_LOOK_EVERY_S):
            assert time.monotonic() < began + _MOVES_WITHIN_S, f"no epoch after {epoch}"

    def _note(self, kind: str, told: str) -> None:
        self.strikes[kind] += 1
        self.on_strike(told)
