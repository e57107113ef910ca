"""What came out of a load, by readers that had no part in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from confluent_kafka import ConsumerGroupTopicPartitions
from confluent_kafka.admin import AdminClient

from logquake.chaos.group_commits import Diary, Place, check_commits, diaries_of
from logquake.chaos.history.numbers import number_of
from logquake.chaos.history.rows import Kind
from logquake.chaos.transactions import Ledger, check_transactions
from logquake.chaos.workloads.readback import ReadRecord, read_committed
from logquake.client.errors import ClientError
from logquake.client.offsets import Isolation, latest_offsets
from logquake.client.routing import Router
from logquake.client.settings import ClientSettings
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC
from logquake.wire.messages.coordinator_records import OffsetCommitKey, OffsetCommitValue
from logquake.wire.versioned import decode_offsets_key, decode_versioned
from tests.rounds.rolling.load import SOURCE, Load
from tests.waiting import wait_for

READ_S = 120.0


class Judgement:
    def __init__(self, servers: str, load: Load) -> None:
        self._servers = servers
        self._load = load
        self.source = list(self._committed(SOURCE))

    def faults(self) -> Iterator[str]:
        """One line each; none if everything is as it has to be."""
        yield from self._load.failures
        diaries = diaries_of(self._load.rows())
        of_source = (row for row in self._load.rows() if row.process.startswith("producer-"))
        transactions = check_transactions(Ledger(of_source), self.source)
        print(transactions, flush=True)
        if not transactions.holds:
            yield str(transactions)
        yield from self._wrongly_moved()
        yield from self._not_taken(diaries)
        commits = check_commits(diaries, self._at_the_end(), self._log_of_commits())
        print(commits, flush=True)
        if not commits.holds:
            yield str(commits)

    def missing(self) -> int:
        """How many places of the source some group has not committed yet."""
        ends = _ends(self.source)
        found = self._at_the_end()
        return sum(
            found.get(Place(group, SOURCE, partition), 0) < end
            for group in self._load.group_names()
            for partition, end in ends.items()
        )

    def _wrongly_moved(self) -> Iterator[str]:
        """Each committed record of the source is in each target once, in its partition's order."""
        wanted = _by_partition((record.partition, record.offset) for record in self.source)
        origins = {
            row.value: row.before[1]
            for row in self._load.rows()
            if row.what == Kind.SEND and row.before is not None
        }
        for target in self._load.targets():
            found = _by_partition(
                (record.partition, origins.get(number_of(record.value)))
                for record in self._committed(target)
            )
            for partition in sorted({*wanted, *found}):
                if wanted.get(partition, []) != found.get(partition, []):
                    yield _difference(f"{target}-{partition}", wanted, found, partition)

    def _not_taken(self, diaries: list[Diary]) -> Iterator[str]:
        """Each group took each committed record of the source, and nothing else."""
        wanted = {(record.partition, record.offset) for record in self.source}
        for group in self._load.group_names():
            taken = set(_taken(diaries, group))
            if taken != wanted:
                yield (
                    f"{group} never took {sorted(wanted - taken)[:5]}, "
                    f"and took {sorted(taken - wanted)[:5]}"
                )

    def _committed(self, topic: str) -> Iterator[ReadRecord]:
        """Once nobody's transaction is open there: markers follow the answer to a commit."""
        with Router(ClientSettings(self._servers)) as router:
            wait_for(
                f"end of every transaction in {topic}",
                lambda: [latest_offsets(router, topic, isolation=each) for each in Isolation],
                lambda ends: ends[0] == ends[1],
                unready=(ClientError,),
            )
        yield from read_committed(self._servers, topic, timeout_s=READ_S)

    def _at_the_end(self) -> dict[Place, int]:
        admin = AdminClient({"bootstrap.servers": self._servers})
        found = {}
        for group in self._load.group_names():
            asked = [ConsumerGroupTopicPartitions(group)]
            answer = admin.list_consumer_group_offsets(asked, require_stable=True)[group]
            for each in answer.result(READ_S).topic_partitions:
                found[Place(group, each.topic, each.partition)] = each.offset
        return found

    def _log_of_commits(self) -> Iterator[tuple[Place, int]]:
        for record in self._committed(GROUP_METADATA_TOPIC):
            key = decode_offsets_key(record.key or b"")
            if isinstance(key, OffsetCommitKey) and record.value is not None:
                value = decode_versioned(OffsetCommitValue, record.value)
                yield Place(key.group, key.topic, key.partition), value.offset


def _ends(records: Iterable[ReadRecord]) -> dict[int, int]:
    return {record.partition: record.offset + 1 for record in records}


Offsets = Mapping[int, list[int | None]]  # in each partition of a source; None: nobody moved it


def _by_partition(places: Iterable[tuple[int, int | None]]) -> Offsets:
    found: dict[int, list[int | None]] = {}
    for partition, offset in places:
        found.setdefault(partition, []).append(offset)
    return found


def _taken(diaries: Iterable[Diary], group: str) -> Iterator[tuple[int, int]]:
    for diary in diaries:
        for taken in diary.taken():
            if taken.place.group == group:
                yield taken.place.partition, taken.offset


def _difference(what: str, wanted: Offsets, found: Offsets, partition: int) -> str:
    should, does = Counter(wanted.get(partition, [])), Counter(found.get(partition, []))
    lost, more = list((should - does).items())[:5], list((does - should).items())[:5]
    return f"{what} lacks {lost}, has {more} too many, or is out of order"
