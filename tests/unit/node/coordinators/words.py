"""The smallest coordinator: each key has a word, and transactions may change several."""

from __future__ import annotations

from logquake.node.coordinators.partitions import CoordinatorPartitions
from logquake.node.coordinators.replay import LoggedRecord
from logquake.node.coordinators.term import Term
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.records import BatchFlag, Record, encode_batch
from logquake.wire.sentinels import ACKS_ALL, NO_PRODUCER_ID

TIMEOUT_MS = 5_000


class Words:
    """One partition's."""

    def __init__(self) -> None:
        self.current: dict[bytes, bytes] = {}
        self.pending: dict[int, dict[bytes, bytes]] = {}
        self.seen: list[LoggedRecord] = []

    def replay(self, record: LoggedRecord) -> None:
        if not record.key.isalpha():
            raise ProtocolError("keys are letters")
        self.seen.append(record)
        if record.producer_id != NO_PRODUCER_ID:
            self.pending.setdefault(record.producer_id, {})[record.key] = record.value or b""
        elif record.value is None:
            self.current.pop(record.key, None)
        else:
            self.current[record.key] = record.value

    def replay_marker(self, producer_id: int, *, committed: bool) -> None:
        decided = self.pending.pop(producer_id, {})
        if committed:
            self.current.update(decided)


class WordCoordinator:
    """``told`` is what the partitions said, and how appends came out, in order."""

    partitions: CoordinatorPartitions[Words]

    def __init__(self) -> None:
        self.told: list[str] = []

    def new_state(self) -> Words:
        return Words()

    def term_began(self, term: Term[Words]) -> None:
        self.told.append(f"{term.index} began in epoch {term.epoch}")

    def term_ended(self, term: Term[Words]) -> None:
        self.told.append(f"{term.index} ended")

    def term(self, index: int = 0) -> Term[Words]:
        found = self.partitions.find_at(index)
        assert not isinstance(found, ErrorCode), found
        return found

    def put(self, term: Term[Words], word: bytes, acks: int = ACKS_ALL) -> None:
        def done(error: ErrorCode, offset: int) -> None:
            self.told.append(f"{word.decode()}: {error.name} at {offset}")

        term.append(batch((b"k", word)), acks, TIMEOUT_MS, done)


def batch(*words: tuple[bytes, bytes | None], producer_id: int = NO_PRODUCER_ID) -> bytearray:
    records = [Record(i, 1_000, key, word) for i, (key, word) in enumerate(words)]
    if producer_id == NO_PRODUCER_ID:
        return encode_batch(records)
    flags = BatchFlag.TRANSACTIONAL
    return encode_batch(records, producer_id=producer_id, producer_epoch=0, flags=flags)
