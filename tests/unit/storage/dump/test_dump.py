"""What files look like as text. tests/compat holds the same text against Kafka's own tool."""

from __future__ import annotations

import struct
from typing import Any

import pytest

from logquake.storage.dump import Damages, DumpOptions, FileDump
from logquake.storage.dump.group_text import decode_group_record
from logquake.storage.dump.options import choose_decoder
from logquake.storage.dump.scala_order import in_scala_order, topic_partition_hash
from logquake.storage.dump.transaction_text import decode_transaction_record
from logquake.storage.producers.entry import BatchMetadata, ProducerEntry
from logquake.storage.producers.snapshot import encode_snapshot
from logquake.storage.segments.txn_index import AbortedTransaction, encode_aborted
from logquake.wire.messages.consumer_group_records import (
    ConsumerGroupMemberMetadataKey,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupTargetAssignmentMemberKey,
    ConsumerGroupTargetAssignmentMemberValue,
    TopicPartition,
)
from logquake.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from logquake.wire.messages.coordinator_records import (
    GroupMetadataKey,
    GroupMetadataValue,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    PartitionsSchema,
    TransactionLogKey,
    TransactionLogValue,
)
from logquake.wire.records import (
    BatchFlag,
    Codec,
    ControlType,
    Record,
    encode_batch,
    encode_end_marker,
    encode_message_set,
)
from logquake.wire.schema import Message, encode
from logquake.wire.topic_partition import TopicPartition as Partition
from tests.doubles.memory_disk import MemoryDisk

NAME = f"{100:020d}"
LOG = f"/data/t-0/{NAME}.log"
SIZE = 84  # of data()


class Dumper:
    """Files in memory, and what is said of them."""

    def __init__(self) -> None:
        self.disk = MemoryDisk()
        self.damages = Damages()

    def __call__(self, path: str, content: bytes | bytearray, **options: Any) -> list[str]:
        self.disk.make_dirs("/data/t-0")
        self.disk.replace(path, bytes(content))
        dump = FileDump(self.disk, "/data", DumpOptions(**options), self.damages)
        return list(dump.lines(path))

    @property
    def complaints(self) -> list[str]:
        return [*self.damages.take_lines(), *self.damages.summary()]


@pytest.fixture
def dump() -> Dumper:
    return Dumper()


def data(**fields: Any) -> bytes:
    records = [
        Record(100, 1_000, b"k", b"v", (("a", b"1"), ("b", None))),
        Record(101, 1_001, None, None),
    ]
    return bytes(encode_batch(records, base_offset=100, leader_epoch=4, **fields))


def prefixed(message: Message, version: int) -> bytes:
    return struct.pack(">h", version) + encode(message, version)


# .log


def test_a_batch(dump: Dumper) -> None:
    assert dump(LOG, data(producer_id=7, producer_epoch=1, base_sequence=2**31 - 1)) == [
        f"Dumping {LOG}",
        "Log starting offset: 100",
        "baseOffset: 100 lastOffset: 101 count: 2 baseSequence: 2147483647 lastSequence: 0 "
        "producerId: 7 producerEpoch: 1 partitionLeaderEpoch: 4 isTransactional: false "
        "isControl: false deleteHorizonMs: OptionalLong.empty position: 0 CreateTime: 1001 "
        f"size: {SIZE} magic: 2 compresscodec: none crc: 2314825963 isvalid: true",
    ]
    assert not dump.damages.found


def test_records(dump: Dumper) -> None:
    assert dump(LOG, data(), deep_iteration=True)[3:] == [
        "| offset: 100 CreateTime: 1000 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [a,b]",
        "| offset: 101 CreateTime: 1001 keySize: -1 valueSize: -1 sequence: -1 headerKeys: []",
    ]


def test_keys_and_values(dump: Dumper) -> None:
    assert dump(LOG, data(), print_data_log=True)[3:] == [
        "| offset: 100 CreateTime: 1000 keySize: 1 valueSize: 1 sequence: -1 headerKeys: [a,b] "
        "key: k payload: v",
        "| offset: 101 CreateTime: 1001 keySize: -1 valueSize: -1 sequence: -1 headerKeys: []",
    ]


def test_keys_and_values_alone(dump: Dumper) -> None:
    records = [Record(100, 0, b"k", b"v"), Record(101, 0, None, b"v"), Record(102, 0, b"k", None)]
    content = encode_batch(records, base_offset=100, codec=Codec.GZIP)
    found = dump(LOG, content, print_data_log=True, skip_record_metadata=True)
    assert found[3:] == ["| key: k payload: v", " payload: v", "| key: k"]


@pytest.mark.parametrize(
    ("decoder", "shown"),
    [("string", "\x00\x00\x00\x2a"), ("integer", "42"), ("hex", "0000002a")],
)
def test_decoders(dump: Dumper, decoder: str, shown: str) -> None:
    content = encode_batch([Record(0, 0, None, b"\x00\x00\x00\x2a")])
    chosen = choose_decoder(None, decoder, offsets=False, transaction_log=False)
    found = dump(LOG, content, print_data_log=True, decoder=chosen)
    assert found[-1].endswith(f" payload: {shown}")


def test_a_value_too_short_for_its_decoder(dump: Dumper) -> None:
    chosen = choose_decoder(None, "long", offsets=False, transaction_log=False)
    dump(LOG, data(), print_data_log=True, decoder=chosen)
    assert dump.complaints == [f"{LOG}: offset 100: 1 bytes are too few for a number of 8"]


def test_an_end_of_transaction(dump: Dumper) -> None:
    marker = encode_end_marker(
        ControlType.ABORT, coordinator_epoch=3, producer_id=7, producer_epoch=0, timestamp_ms=5
    )
    found = dump(LOG, marker, print_data_log=True)
    assert found[-1] == (
        "| offset: 0 CreateTime: 5 keySize: 4 valueSize: 6 sequence: -1 headerKeys: [] "
        "endTxnMarker: ABORT coordinatorEpoch: 3"
    )


def test_a_delete_horizon(dump: Dumper) -> None:
    content = encode_batch([Record(0, 9, b"k", None)], flags=BatchFlag.DELETE_HORIZON)
    assert " deleteHorizonMs: OptionalLong[9] " in dump(LOG, content)[2]


def test_a_message_set(dump: Dumper) -> None:
    content = encode_message_set([Record(5, 9, b"k", b"v")], 1)
    assert dump(LOG, content, print_data_log=True)[2:] == [
        "offset: 5 position: 0 CreateTime: 9 size: 36 magic: 1 compresscodec: none "
        "crc: 1975947051 isvalid: true",
        "| offset: 5 CreateTime: 9 keySize: 1 valueSize: 1 isValid: true crc: 1975947051} "
        "key: k payload: v",
    ]


def test_so_many_bytes_and_no_more(dump: Dumper) -> None:
    first = data()
    found = dump(LOG, first + data(), max_bytes=len(first) + 5)
    assert len(found) == 3
    assert not dump.damages.found


def test_gaps_are_told_and_are_no_damage(dump: Dumper) -> None:
    records = [Record(0, 0, b"k", b""), Record(2, 0, b"k", b""), Record(9, 0, b"k", b"")]
    dump(LOG, encode_batch(records), deep_iteration=True)
    assert dump.complaints == [
        f"Non-consecutive offsets in {LOG}",
        "  2 is followed by 9",
        "  0 is followed by 2",
    ]
    assert not dump.damages.found


def test_a_broken_checksum(dump: Dumper) -> None:
    content = bytearray(data())
    content[18] ^= 1
    assert dump(LOG, content)[2].endswith(" isvalid: false")
    assert dump.damages.found


def test_a_torn_end(dump: Dumper) -> None:
    found = dump(LOG, data() + data()[:40])
    assert found[-1] == f"Found 40 invalid bytes at the end of {NAME}.log"
    assert dump.damages.found


def test_records_that_cannot_be_read_do_not_end_the_dump(dump: Dumper) -> None:
    broken = bytearray(data())
    struct.pack_into(">i", broken, 57, 5)  # so many records are not there
    found = dump(LOG, broken + data(), deep_iteration=True)
    assert sum(line.startswith("baseOffset") for line in found) == 2
    (complaint, *_) = dump.complaints
    assert complaint.startswith(f"{LOG}: batch at byte 0: unreadable records")


def test_zeros_are_no_batch(dump: Dumper) -> None:
    found = dump(LOG, data() + bytes(100))
    assert found[-1] == f"Found 100 invalid bytes at the end of {NAME}.log"
    assert dump.complaints == [f"{LOG}: at byte {SIZE}: a batch of 0 bytes"]


# Indexes


def with_log(dump: Dumper) -> None:
    dump(LOG, data() + bytes(encode_batch([Record(102, 7, b"k", b"v")], base_offset=102)))


def test_an_offset_index(dump: Dumper) -> None:
    with_log(dump)
    path = f"/data/t-0/{NAME}.index"
    content = struct.pack(">iiii", 1, 0, 2, SIZE) + bytes(16)
    assert dump(path, content)[1:] == ["offset: 101 position: 0", f"offset: 102 position: {SIZE}"]
    assert not dump.damages.found


def test_an_offset_index_that_is_wrong(dump: Dumper) -> None:
    with_log(dump)
    path = f"/data/t-0/{NAME}.index"
    dump(path, struct.pack(">iiii", 1, 0, 5, SIZE), verify_index_only=True)
    assert dump.complaints == [f"Mismatches in :{path}", "  Index offset: 105, log offset: 102"]
    assert dump.damages.found


def test_an_index_past_the_end_of_its_log(dump: Dumper) -> None:
    with_log(dump)
    path = f"/data/t-0/{NAME}.index"
    dump(path, struct.pack(">ii", 1, 500))
    assert dump.complaints == [f"{path}: offset 101: no whole batch at byte 500"]


def test_a_time_index(dump: Dumper) -> None:
    with_log(dump)
    dump(f"/data/t-0/{NAME}.index", struct.pack(">ii", 2, SIZE))
    path = f"/data/t-0/{NAME}.timeindex"
    assert dump(path, struct.pack(">qi", 1_001, 1))[1:] == ["timestamp: 1001 offset: 101"]
    assert not dump.damages.found


def test_a_time_index_that_is_wrong(dump: Dumper) -> None:
    with_log(dump)
    dump(f"/data/t-0/{NAME}.index", b"")
    path = f"/data/t-0/{NAME}.timeindex"
    dump(path, struct.pack(">qiqi", 1_002, 1, 7, 2) + struct.pack(">qi", 9_999, 6))
    assert dump.complaints == [
        f"Found timestamp mismatch in :{path}",
        "  Index timestamp: 1002, log timestamp: 1001",
        f"Found out of order timestamp in :{path}",
        "  Index timestamp: 7, Previously indexed timestamp: 1002",
        "The following indexed offsets are not found in the log.",
        "Indexed offset: 106, found log offset: -1",
    ]


@pytest.mark.parametrize(
    ("suffix", "content", "sane"),
    [
        ("index", struct.pack(">ii", 1, 0), True),
        ("index", struct.pack(">ii", -1, 0), False),
        ("index", struct.pack(">ii", 1, 0) + b"\0", False),
        ("timeindex", struct.pack(">qi", 5, 1), True),
        ("timeindex", struct.pack(">qiqi", 5, 1, 4, 2), False),
        ("timeindex", b"\0", False),
    ],
)
def test_sanity(dump: Dumper, suffix: str, content: bytes, sane: bool) -> None:
    path = f"/data/t-0/{NAME}.{suffix}"
    found = dump(path, content, index_sanity_check=True)
    assert (f"{path} passed sanity check." in found) == sane
    assert dump.damages.found != sane


def test_an_index_of_an_active_segment_without_entries(dump: Dumper) -> None:
    dump(LOG, b"")
    assert dump(f"/data/t-0/{NAME}.index", bytes(64))[1:] == ["offset: 100 position: 0"]
    assert dump(f"/data/t-0/{NAME}.timeindex", bytes(60))[1:] == ["timestamp: 0 offset: 100"]
    assert not dump.damages.found


# Producers and transactions


def test_aborted_transactions(dump: Dumper) -> None:
    path = f"/data/t-0/{NAME}.txnindex"
    content = encode_aborted([AbortedTransaction(7, 100, 105, 106)])
    assert dump(path, content + b"\0")[1:] == [
        "version: 0 producerId: 7 firstOffset: 100 lastOffset: 105 lastStableOffset: 106"
    ]
    assert dump.complaints == [f"{path}: 1 bytes after the last entry"]


def test_producers(dump: Dumper) -> None:
    entries = [
        ProducerEntry(7, 1, 2, 9, 55, (BatchMetadata(4, 59, 4, 9),)),
        ProducerEntry(8, 0, -1, 3),
    ]
    assert dump(f"/data/t-0/{NAME}.snapshot", encode_snapshot(entries))[1:] == [
        "producerId: 7 producerEpoch: 1 coordinatorEpoch: 2 "
        "currentTxnFirstOffset: OptionalLong[55] lastTimestamp: 9 "
        "firstSequence: 0 lastSequence: 4 lastOffset: 59 offsetDelta: 4 timestamp: 9",
        "producerId: 8 producerEpoch: 0 coordinatorEpoch: -1 "
        "currentTxnFirstOffset: OptionalLong.empty lastTimestamp: 3 ",
    ]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"\0\1", "Snapshot failed schema validation: it has 2 bytes"),
        (b"\0\2" + bytes(8), "Snapshot contained an unknown file version 2"),
        (
            b"\0\1" + bytes(8),
            "Snapshot is corrupt (CRC is no longer valid). Stored crc: 0. Computed crc: 1214729159",
        ),
    ],
)
def test_damaged_snapshots(dump: Dumper, content: bytes, complaint: str) -> None:
    dump(f"/data/t-0/{NAME}.snapshot", content)
    assert dump.complaints == [complaint]
    assert dump.damages.found


# Checkpoints


@pytest.mark.parametrize(
    ("name", "content", "lines"),
    [
        (
            "replication-offset-checkpoint",
            b"0\n2\na 0 5\nb-c 11 6\n",
            [
                "version: 0 entries: 2",
                "topic: a partition: 0 highWatermark: 5",
                "topic: b-c partition: 11 highWatermark: 6",
            ],
        ),
        (
            "t-0/leader-epoch-checkpoint",
            b"0\n1\n3 120\n",
            ["version: 0 entries: 1", "epoch: 3 startOffset: 120"],
        ),
        (
            "meta.properties",
            b"#\n#Mon\nbroker.id=1\nversion=0\n",
            ["broker.id: 1", "version: 0"],
        ),
        ("t-0/partition.metadata", b"version: 0\ntopic_id: x", ["version: 0", "topic_id: x"]),
    ],
)
def test_checkpoints(dump: Dumper, name: str, content: bytes, lines: list[str]) -> None:
    assert dump(f"/data/{name}", content)[1:] == lines
    assert not dump.damages.found


@pytest.mark.parametrize(
    "content", [b"", b"1\n0\n", b"0\n2\na 0 5\n", b"0\n1\na 0\n", b"0\n1\na b 5\n", b"\xff"]
)
def test_damaged_checkpoints(dump: Dumper, content: bytes) -> None:
    dump("/data/recovery-point-offset-checkpoint", content)
    assert dump.damages.found


def test_unknown_files_are_passed_over(dump: Dumper) -> None:
    assert dump("/data/notes.txt", b"") == ["Dumping /data/notes.txt"]
    assert dump.complaints == ["Ignoring unknown file /data/notes.txt"]
    assert not dump.damages.found


# Coordinators


def test_a_committed_offset() -> None:
    key = prefixed(OffsetCommitKey(group='g"\x1f', topic="t", partition=3), 1)
    value = prefixed(OffsetCommitValue(offset=5, metadata="m", commit_timestamp=9), 3)
    assert decode_group_record(Record(0, 0, key, value)) == (
        '{"type":"1","data":{"group":"g\\"\\u001F","topic":"t","partition":3}}',
        '{"version":"3","data":{"offset":5,"leaderEpoch":-1,"metadata":"m","commitTimestamp":9}}',
    )
    assert decode_group_record(Record(0, 0, key, None)).payload == "<DELETE>"


def test_a_group() -> None:
    key = prefixed(GroupMetadataKey(group="g"), 2)
    subscription = prefixed(ConsumerProtocolSubscription(topics=["t"]), 0)
    member = MemberMetadata(member_id="m", subscription=subscription, assignment=b"\x00")
    value = prefixed(GroupMetadataValue(protocol_type="consumer", members=[member]), 1)
    assert decode_group_record(Record(0, 0, key, value)).payload == (
        '{"version":"1","data":{"protocolType":"consumer","generation":0,"protocol":"",'
        '"leader":"","members":[{"memberId":"m","clientId":"","clientHost":"",'
        '"rebalanceTimeout":-1,"sessionTimeout":0,'
        '"subscription":{"topics":["t"],"userData":null},"assignment":"AA=="}]}}'
    )


def test_a_member_of_a_group_of_the_new_protocol() -> None:
    key = prefixed(ConsumerGroupMemberMetadataKey(group_id="g", member_id="m"), 5)
    value = ConsumerGroupMemberMetadataValue(classic_member_metadata=None)
    assert decode_group_record(Record(0, 0, key, prefixed(value, 0))) == (
        '{"type":"5","data":{"groupId":"g","memberId":"m"}}',
        '{"version":"0","data":{"instanceId":"","rackId":"","clientId":"","clientHost":"",'
        '"subscribedTopicNames":[],"subscribedTopicRegex":"","rebalanceTimeoutMs":-1,'
        '"serverAssignor":"","classicMemberMetadata":null}}',
    )


def test_an_assignment_of_the_new_protocol() -> None:
    key = prefixed(ConsumerGroupTargetAssignmentMemberKey(group_id="g", member_id="m"), 7)
    value = ConsumerGroupTargetAssignmentMemberValue(
        topic_partitions=[TopicPartition(topic_id=b"\xff" * 16, partitions=[0, 1])]
    )
    assert decode_group_record(Record(0, 0, key, prefixed(value, 0))).payload == (
        '{"version":"0","data":{"topicPartitions":'
        '[{"topicId":"_____________________w","partitions":[0,1]}]}}'
    )


def test_records_of_no_group() -> None:
    assert decode_group_record(Record(4, 0, b"\0\x63", b"")) == (
        "Unknown record type 99 at offset 4, skipping.",
        None,
    )
    key = prefixed(GroupMetadataKey(group="g"), 2)
    assert decode_group_record(Record(4, 0, key, b"\0\x09")).key == (
        "Error at offset 4, skipping. Could not read record with version 9 from value's buffer "
        "due to: Can't read version 9 of GroupMetadataValue."
    )


def test_a_transaction() -> None:
    key = prefixed(TransactionLogKey(transactional_id="id"), 0)
    value = TransactionLogValue(
        producer_id=7,
        producer_epoch=1,
        transaction_timeout_ms=60_000,
        transaction_status=1,
        transaction_partitions=[PartitionsSchema(topic="t", partition_ids=[0])],
        transaction_last_update_timestamp_ms=5,
    )
    assert decode_transaction_record(Record(0, 0, key, prefixed(value, 0))) == (
        "transaction_metadata::transactionalId=id",
        "producerId:7,producerEpoch:1,state=Ongoing,partitions=[t-0],"
        "txnLastUpdateTimestamp=5,txnTimeoutMs=60000",
    )
    assert decode_transaction_record(Record(0, 0, b"\0\x05", None)) == ("unknown::version=5", None)


def test_partitions_in_the_order_of_scala() -> None:
    """As Kafka 3.9.1 printed a transaction in fourteen partitions."""
    partitions = [
        Partition("transactional", 0),
        *(Partition("wide", index) for index in reversed(range(13))),
    ]
    assert in_scala_order(partitions, topic_partition_hash) == [
        *(Partition("wide", index) for index in range(11)),
        Partition("transactional", 0),
        Partition("wide", 11),
        Partition("wide", 12),
    ]
