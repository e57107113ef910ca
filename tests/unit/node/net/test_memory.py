"""Memory that is shared: who is granted it, and who waits."""

from __future__ import annotations

from logquake.node.net.memory import MemoryClaim, MemoryPool


class Holder:
    """A claim that notes when it was granted."""

    def __init__(self, pool: MemoryPool, log: list[str], name: str) -> None:
        self.claim = MemoryClaim(pool, lambda: log.append(name))


def test_claims_are_granted_in_order_whatever_their_size() -> None:
    log: list[str] = []
    pool = MemoryPool(100, lambda: log.append("reclaim"))
    first, large, small = (Holder(pool, log, name).claim for name in ("first", "large", "small"))
    assert first.take(60)
    assert not large.take(100)
    assert not small.take(10)  # it would fit, and let the large one starve
    assert log == ["reclaim"]
    first.release()
    assert log == ["reclaim", "large"]
    large.release()
    assert log == ["reclaim", "large", "small"]
    small.release()
    assert pool.free_bytes == 100


def test_who_waits_no_longer_lets_the_next_one_pass() -> None:
    log: list[str] = []
    pool = MemoryPool(100, lambda: None)
    first, large, small = (Holder(pool, log, name).claim for name in ("first", "large", "small"))
    first.take(60)
    large.take(100)
    small.take(10)
    large.release()
    assert log == ["small"]
    assert pool.free_bytes == 30


def test_a_larger_need_gives_back_before_it_waits() -> None:
    pool = MemoryPool(100, lambda: None)
    one, other = (Holder(pool, [], "").claim for _ in range(2))
    assert one.take(50)
    assert other.take(50)
    assert not one.take(80)
    assert pool.free_bytes == 50
    other.release()
    assert pool.free_bytes == 20
    assert not one.is_waiting
