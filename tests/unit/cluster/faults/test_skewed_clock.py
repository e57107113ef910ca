from __future__ import annotations

from logquake.cluster.faults.orders import SkewClock, StrobeClock
from logquake.cluster.faults.skewed_clock import SkewedClock
from tests.doubles.scheduler import ManualScheduler


def test_a_wall_clock_is_off_and_the_monotonic_one_is_not() -> None:
    scheduler = ManualScheduler()
    clock = SkewedClock(scheduler)
    assert clock.wall_ms() == scheduler.wall_ms()
    clock.add("f1", SkewClock(ms=-3_000))
    assert clock.wall_ms() == scheduler.wall_ms() - 3_000
    assert clock.now_ms() == scheduler.now_ms()
    clock.discard("f1")
    assert clock.wall_ms() == scheduler.wall_ms()


def test_a_drift_grows_from_when_it_was_ordered() -> None:
    scheduler = ManualScheduler()
    clock = SkewedClock(scheduler)
    scheduler.advance(5_000)
    clock.add("f1", SkewClock(drift_ppm=1_000))
    assert clock.wall_ms() == scheduler.wall_ms()
    scheduler.advance(60_000)
    assert clock.wall_ms() == scheduler.wall_ms() + 60


def test_a_strobe_jumps_to_and_fro_and_offsets_add_up() -> None:
    scheduler = ManualScheduler()
    clock = SkewedClock(scheduler)
    clock.add("f1", SkewClock(ms=10))
    clock.add("f2", StrobeClock(ms=1_000, every_ms=100))
    offsets = []
    for _ in range(5):
        offsets.append(clock.wall_ms() - scheduler.wall_ms())
        scheduler.advance(50)
    assert offsets == [1_010, 1_010, 10, 10, 1_010]
