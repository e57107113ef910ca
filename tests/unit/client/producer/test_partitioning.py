"""Which partition a record goes to. The hashes are those of Kafka's own UtilsTest."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest

from logquake.client.producer.hashing import murmur2, partition_for
from logquake.client.producer.leaders import PartitionsOfTopic
from logquake.client.producer.partitioning import (
    Chooser,
    StickyPartitioner,
    programs_choice,
)

FIVE = PartitionsOfTopic(all=[0, 1, 2, 3, 4], available=[0, 1, 2, 3, 4])


@pytest.mark.parametrize(
    ("key", "signed"),
    [
        (b"21", -973932308),
        (b"foobar", -790332482),
        (b"a-little-bit-long-string", -985981536),
        (b"a-little-bit-longer-string", -1486304829),
        (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971),
        (b"abc", 479470107),
    ],
)
def test_murmur2(key: bytes, signed: int) -> None:
    assert murmur2(key) == signed & 0xFFFFFFFF


def test_a_negative_hash_is_made_positive_by_its_sign_bit() -> None:
    assert partition_for(b"21", 1000) == (-973932308 & 0x7FFFFFFF) % 1000


class LastOne:
    """A program's own partitioner."""

    def partition(
        self, _topic: str, _key: bytes | None, _value: bytes | None, partitions: PartitionsOfTopic
    ) -> int:
        return partitions.all[-1]


class Nowhere(LastOne):
    def partition(self, *_: object) -> int:
        return -1


def test_what_a_record_says_itself_goes_before_everything() -> None:
    assert Chooser().choose(2, b"key", FIVE) == 2


def test_what_a_partitioner_of_ones_own_chooses() -> None:
    assert programs_choice(LastOne(), "t", b"key", None, FIVE) == 4


def test_a_partitioner_that_answers_nonsense() -> None:
    with pytest.raises(ValueError, match="chose -1"):
        programs_choice(Nowhere(), "t", b"key", None, FIVE)


def test_a_key_decides_whether_or_not_its_partition_has_a_leader() -> None:
    partitions = FIVE._replace(available=[0])
    assert Chooser().choose(None, b"abc", partitions) == 479470107 % 5


def test_an_empty_key_is_a_key() -> None:
    assert Chooser().choose(None, b"", FIVE) == partition_for(b"", 5)


@pytest.mark.parametrize(
    ("chooser", "key"), [(Chooser(), None), (Chooser(ignores_keys=True), b"abc")]
)
def test_a_record_without_a_key_that_counts_may_go_anywhere(
    chooser: Chooser, key: bytes | None
) -> None:
    assert chooser.choose(None, key, FIVE) is None


def sticky() -> StickyPartitioner:
    return StickyPartitioner(100, Random(3))


def drawn(
    partitioner: StickyPartitioner, partitions: PartitionsOfTopic, times: int
) -> Counter[int]:
    """What it switched to."""
    found: Counter[int] = Counter()
    for _ in range(times):
        assert partitioner.produced(100, partitions, may_switch=True)
        found[partitioner.current(partitions)] += 1
    return found


def test_it_stays_until_enough_has_gone_there() -> None:
    partitioner = sticky()
    first = partitioner.current(FIVE)
    assert not partitioner.produced(99, FIVE, may_switch=True)
    assert partitioner.current(FIVE) == first
    assert partitioner.produced(1, FIVE, may_switch=True)


def test_while_a_batch_fills_it_stays_for_twice_as_much() -> None:
    partitioner = sticky()
    partitioner.current(FIVE)
    assert not partitioner.produced(199, FIVE, may_switch=False)
    assert partitioner.produced(1, FIVE, may_switch=False)


def test_only_partitions_with_a_leader_are_drawn() -> None:
    assert set(drawn(sticky(), FIVE._replace(available=[1, 3]), 50)) == {1, 3}


def test_if_none_has_a_leader_any_is_drawn() -> None:
    assert set(drawn(sticky(), FIVE._replace(available=[]), 100)) == {0, 1, 2, 3, 4}


def test_short_queues_are_drawn_in_proportion() -> None:
    """Queues of 0, 3 and 1 weigh 4, 1 and 3, as in BuiltInPartitioner's own example."""
    partitioner = sticky()
    partitioner.weigh([0, 3, 1], [1, 2, 4], 3)
    found = drawn(partitioner, FIVE, 8000)
    assert {place: round(count / 1000) for place, count in found.items()} == {1: 4, 2: 1, 4: 3}


def test_nothing_sticks_to_what_a_topic_made_again_has_not() -> None:
    partitioner = sticky()
    partitioner.weigh([0, 9], [3, 4], 5)
    assert partitioner.current(FIVE) in {3, 4}
    fewer = PartitionsOfTopic(all=[0, 1], available=[1])
    assert partitioner.current(fewer) == 1


@pytest.mark.parametrize(
    ("sizes", "ids", "count"), [([2, 2], [0, 1], 2), ([], [], 2), ([5], [0], 1)]
)
def test_queues_that_say_nothing_change_nothing(
    sizes: list[int], ids: list[int], count: int
) -> None:
    partitioner = sticky()
    partitioner.weigh(sizes, ids, count)
    assert set(drawn(partitioner, FIVE, 100)) == {0, 1, 2, 3, 4}


def test_the_only_one_that_is_available_is_drawn() -> None:
    """Queues of the same length count where not all partitions are among them."""
    partitioner = sticky()
    partitioner.weigh([2], [3], 2)
    assert set(drawn(partitioner, FIVE, 20)) == {3}
