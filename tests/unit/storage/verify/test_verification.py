"""Each kind of damage is planted and found, and nothing else is."""

from __future__ import annotations

import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from logquake.storage.producers.snapshot import decode_snapshot, encode_snapshot
from logquake.storage.verify import Report, Severity
from logquake.wire.records import (
    BatchHeader,
    Record,
    encode_batch,
    encode_message_set,
    iterate_batches,
)

Verify = Callable[..., Report]


def damages(report: Report) -> set[tuple[str, str]]:
    """Kinds, and names of the files they were found in."""
    return {
        (finding.kind, Path(finding.path).name)
        for finding in report.findings
        if finding.severity is Severity.DAMAGE
    }


def notes(report: Report) -> set[tuple[str, str]]:
    return {
        (finding.kind, Path(finding.path).name)
        for finding in report.findings
        if finding.severity is Severity.NOTE
    }


def segments(folder: Path, suffix: str = ".log") -> list[Path]:
    return sorted(folder.glob(f"*{suffix}"))


@contextmanager
def changed(path: Path) -> Iterator[bytearray]:
    content = bytearray(path.read_bytes())
    yield content
    path.write_bytes(content)


def batches(log: Path) -> list[tuple[int, BatchHeader]]:
    return list(iterate_batches(memoryview(log.read_bytes())))


# Sound


def test_a_directory_that_was_stopped_in_order_is_sound(verify: Verify, log_dir: Path) -> None:
    report = verify(log_dir)
    assert report.is_sound
    assert not report.findings
    (directory,) = report.directories
    orders, plain = directory.partitions
    assert (orders.topic, orders.start_offset, orders.end_offset) == ("orders", 0, 117)
    assert (plain.records, plain.batches) == (135, 45)
    assert orders.segments == 3


def test_a_directory_whose_broker_was_killed_is_sound(verify: Verify, killed: Path) -> None:
    report = verify(killed)
    assert report.is_sound
    assert report.directories[0].state.name == "UNCLEAN"


def test_one_partition_alone(verify: Verify, log_dir: Path) -> None:
    report = verify(log_dir / "orders-0")
    assert report.is_sound
    assert [each.topic for each in report.directories[0].partitions] == ["orders"]


def test_reading_changes_nothing(verify: Verify, log_dir: Path) -> None:
    before = {path: path.read_bytes() for path in log_dir.rglob("*") if path.is_file()}
    verify(log_dir)
    assert before == {path: path.read_bytes() for path in log_dir.rglob("*") if path.is_file()}


# The log


def test_a_flipped_bit_in_a_record(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[1]
    with changed(log) as content:
        content[batches(log)[2][0] + 80] ^= 1
    assert damages(verify(log_dir)) == {("checksum", log.name)}


def test_a_length_that_cannot_be(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[-1]
    with changed(log) as content:
        struct.pack_into(">i", content, batches(log)[-1][0] + 8, 1 << 30)
    assert ("torn", log.name) in damages(verify(log_dir))


def test_a_torn_end(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[-1]
    log.write_bytes(log.read_bytes()[:-3])
    assert damages(verify(log_dir)) >= {("torn", log.name), ("checkpoint", "plain-0")}


def test_a_torn_end_beyond_all_promises_is_what_a_crash_leaves(
    verify: Verify, killed: Path
) -> None:
    log = segments(killed / "plain-0")[-1]
    _, last = batches(log)[-1]
    with changed(log) as content:
        content += encode_batch([Record(last.next_offset, 1, b"k", b"v")])[:-2]
    report = verify(killed)
    assert report.is_sound
    assert ("torn", log.name) in notes(report)


def test_a_torn_end_below_the_high_watermark_is_damage(verify: Verify, killed: Path) -> None:
    log = segments(killed / "plain-0")[-1]
    log.write_bytes(log.read_bytes()[:-3])
    assert ("torn", log.name) in damages(verify(killed))


def test_records_that_their_header_does_not_announce(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[0]
    position, header = batches(log)[0]
    records = [Record(index, index, b"k", b"v" * 20) for index in range(3)]
    wrong = encode_batch(records, leader_epoch=0, last_offset=4)
    with changed(log) as content:
        content[position : position + header.size] = wrong
    assert ("records", log.name) in damages(verify(log_dir))


def test_a_latest_timestamp_that_no_record_has(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[0]
    position, header = batches(log)[0]
    records = [Record(index, index, b"k", b"v" * 20) for index in range(3)]
    wrong = encode_batch(records, leader_epoch=0, max_timestamp=1)
    with changed(log) as content:
        content[position : position + header.size] = wrong
    assert ("timestamp", log.name) in damages(verify(log_dir))


def test_a_batch_twice(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[0]
    position, header = batches(log)[-1]
    with changed(log) as content:
        content += content[position : position + header.size]
    assert ("offset-order", log.name) in damages(verify(log_dir))


def test_a_batch_that_went(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "plain-0")[-1]
    position, header = batches(log)[1]
    with changed(log) as content:
        del content[position : position + header.size]
    assert ("gap", log.name) in damages(verify(log_dir))
    assert ("gap", log.name) not in damages(verify(log_dir, compacted=("plain",)))


def test_a_segment_that_went(verify: Verify, log_dir: Path) -> None:
    gone, following = segments(log_dir / "plain-0")[1:3]
    gone.unlink()
    report = verify(log_dir)
    assert damages(report) == {("gap", following.name)}
    assert ("orphan", gone.with_suffix(".index").name) in notes(report)


def test_a_cleaned_topic_may_have_gaps(verify: Verify, log_dir: Path) -> None:
    segments(log_dir / "plain-0")[1].unlink()
    (log_dir / "cleaner-offset-checkpoint").write_text("0\n1\nplain 0 100\n")
    assert verify(log_dir).is_sound


def test_segments_that_overlap(verify: Verify, log_dir: Path) -> None:
    first, second = segments(log_dir / "plain-0")[:2]
    for suffix in (".log", ".index", ".timeindex"):
        source = first.with_suffix(suffix)
        (log_dir / "plain-0" / f"{int(second.stem) - 1:020d}{suffix}").write_bytes(
            source.read_bytes()
        )
    assert ("overlap", f"{int(second.stem) - 1:020d}.log") in damages(verify(log_dir))


# Leader epochs


def test_a_leader_epoch_that_goes_back(verify: Verify, log_dir: Path) -> None:
    log = segments(log_dir / "orders-0")[-1]
    with changed(log) as content:  # the checksum does not cover it
        struct.pack_into(">i", content, batches(log)[0][0] + 12, 1)
    assert ("epoch-order", log.name) in damages(verify(log_dir))


def test_a_leader_epoch_that_the_checkpoint_does_not_have(verify: Verify, log_dir: Path) -> None:
    (log_dir / "orders-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 0\n")
    assert {kind for kind, _ in damages(verify(log_dir))} == {"epoch"}


@pytest.mark.parametrize("content", ["0\n2\n3 0\n1 50\n", "0\n2\n0 50\n3 10\n", "0\n7\n0 0\n", "x"])
def test_a_damaged_leader_epoch_checkpoint(verify: Verify, log_dir: Path, content: str) -> None:
    (log_dir / "orders-0" / "leader-epoch-checkpoint").write_text(content)
    assert damages(verify(log_dir)) == {("epoch-checkpoint", "leader-epoch-checkpoint")}


# Indexes


@pytest.mark.parametrize(
    ("suffix", "layout", "byte", "value"),
    [
        (".index", ">i", 4, 7),  # no batch begins there
        (".index", ">i", 0, 0),  # before the batch that it points at
        (".index", ">i", 8, 1),  # does not ascend
        (".index", ">i", -4, 1 << 20),  # past the end
        (".timeindex", ">q", 0, 5),  # not the latest so far
        (".timeindex", ">i", -4, 1 << 20),  # past the end
        (".timeindex", ">q", 12, 1),  # does not ascend
    ],
)
def test_an_index_entry_that_misleads(
    verify: Verify, log_dir: Path, suffix: str, layout: str, byte: int, value: int
) -> None:
    index = segments(log_dir / "plain-0", suffix)[0]
    with changed(index) as content:
        struct.pack_into(layout, content, byte if byte >= 0 else len(content) + byte, value)
    assert damages(verify(log_dir)) == {("index", index.name)}


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_of_a_broken_size(verify: Verify, log_dir: Path, suffix: str) -> None:
    index = segments(log_dir / "plain-0", suffix)[0]
    index.write_bytes(index.read_bytes() + b"\0")
    assert damages(verify(log_dir)) == {("index", index.name)}


@pytest.mark.parametrize("suffix", [".index", ".timeindex"])
def test_an_index_that_is_missing(verify: Verify, log_dir: Path, suffix: str) -> None:
    index = segments(log_dir / "plain-0", suffix)[0]
    index.unlink()
    assert damages(verify(log_dir)) == {("index", index.name)}


def test_zeros_after_a_sealed_index(verify: Verify, log_dir: Path) -> None:
    index = segments(log_dir / "plain-0", ".index")[0]
    index.write_bytes(index.read_bytes() + bytes(80))
    assert damages(verify(log_dir)) == {("index", index.name)}


def test_a_time_index_without_its_last_entry(verify: Verify, log_dir: Path) -> None:
    index = segments(log_dir / "plain-0", ".timeindex")[0]
    index.write_bytes(index.read_bytes()[:-12])
    assert damages(verify(log_dir)) == {("index", index.name)}


def test_an_index_that_the_next_start_rebuilds_is_no_damage(verify: Verify, killed: Path) -> None:
    index = segments(killed / "plain-0", ".index")[-1]
    index.write_bytes(b"\xff" * 16)
    report = verify(killed)
    assert report.is_sound
    assert ("index", index.name) in notes(report)


# Producers and transactions


def test_a_snapshot_with_another_sequence(verify: Verify, log_dir: Path) -> None:
    snapshot = segments(log_dir / "orders-0", ".snapshot")[-1]
    first, *others = decode_snapshot(snapshot.read_bytes())
    batch = first.batches[-1]._replace(last_sequence=99)
    snapshot.write_bytes(encode_snapshot([replace(first, batches=(batch,)), *others]))
    assert damages(verify(log_dir)) == {("snapshot", snapshot.name)}


def test_a_snapshot_with_a_broken_checksum(verify: Verify, log_dir: Path) -> None:
    snapshot = segments(log_dir / "orders-0", ".snapshot")[0]
    with changed(snapshot) as content:
        content[-1] ^= 1
    assert damages(verify(log_dir)) == {("snapshot", snapshot.name)}


def test_a_snapshot_beyond_the_end(verify: Verify, log_dir: Path) -> None:
    snapshot = segments(log_dir / "orders-0", ".snapshot")[-1]
    later = snapshot.with_name(f"{500:020d}.snapshot")
    later.write_bytes(snapshot.read_bytes())
    assert damages(verify(log_dir)) == {("snapshot", later.name)}


def test_an_aborted_transaction_that_is_not_listed(verify: Verify, log_dir: Path) -> None:
    index = segments(log_dir / "orders-0", ".txnindex")[0]
    index.write_bytes(index.read_bytes()[:-34])
    assert damages(verify(log_dir)) == {("txnindex", index.name)}


def test_an_aborted_transaction_that_nobody_aborted(verify: Verify, log_dir: Path) -> None:
    index = segments(log_dir / "orders-0", ".txnindex")[0]
    with changed(index) as content:
        struct.pack_into(">q", content, 2, 99)
    assert damages(verify(log_dir)) == {("txnindex", index.name)}


# The directory


@pytest.mark.parametrize(
    "name", ["recovery-point-offset-checkpoint", "replication-offset-checkpoint"]
)
def test_a_checkpoint_beyond_the_end(verify: Verify, log_dir: Path, name: str) -> None:
    (log_dir / name).write_text("0\n1\nplain 0 136\n")
    assert damages(verify(log_dir)) == {("checkpoint", "plain-0")}


def test_a_checkpoint_that_cannot_be_read(verify: Verify, log_dir: Path) -> None:
    name = "replication-offset-checkpoint"
    (log_dir / name).write_text("0\n1\nplain zero 135\n")
    assert damages(verify(log_dir)) == {("checkpoint", name)}


def test_a_checkpoint_of_a_partition_that_is_gone(verify: Verify, log_dir: Path) -> None:
    name = "log-start-offset-checkpoint"
    (log_dir / name).write_text("0\n1\ngone 0 5\n")
    report = verify(log_dir)
    assert report.is_sound
    assert notes(report) == {("stranger", name)}


@pytest.mark.parametrize("content", [None, "version=0\n", "version=7\n", "broker.id=x\n"])
def test_meta_properties(verify: Verify, log_dir: Path, content: str | None) -> None:
    file = log_dir / "meta.properties"
    file.unlink()
    if content is not None:
        file.write_text(content)
    assert damages(verify(log_dir)) == {("owner", "meta.properties")}


@pytest.mark.parametrize("content", [None, "version: 0\ntopic_id: short", ""])
def test_partition_metadata(verify: Verify, log_dir: Path, content: str | None) -> None:
    file = log_dir / "plain-0" / "partition.metadata"
    file.unlink()
    if content is not None:
        file.write_text(content)
    assert damages(verify(log_dir)) == {("metadata", "partition.metadata")}


def test_a_folder_that_is_no_partition(verify: Verify, log_dir: Path) -> None:
    (log_dir / "backup").mkdir()
    assert damages(verify(log_dir)) == {("unknown-folder", "backup")}


def test_a_partition_twice_in_one_directory(verify: Verify, log_dir: Path) -> None:
    (log_dir / "plain-0").rename(log_dir / "plain-00")
    (log_dir / "plain-0").mkdir()
    assert ("duplicate", "plain-00") in damages(verify(log_dir))


def test_a_partition_in_two_directories(verify: Verify, log_dir: Path, killed: Path) -> None:
    report = verify(log_dir, killed)
    assert damages(report) == {("duplicate", "orders-0"), ("duplicate", "plain-0")}


def test_what_is_left_over_is_told(verify: Verify, log_dir: Path) -> None:
    (log_dir / f"gone-0.{'ab' * 16}-delete").mkdir()
    (log_dir / f"moved-0.{'ab' * 16}-future").mkdir()
    (log_dir / "notes.txt").touch()
    folder = log_dir / "plain-0"
    for name in ("readme", f"{0:020d}.log.deleted", f"{0:020d}.log.swap", f"{7:020d}.index"):
        (folder / name).touch()
    report = verify(log_dir)
    assert report.is_sound
    assert notes(report) == {
        ("leftover", f"gone-0.{'ab' * 16}-delete"),
        ("leftover", f"moved-0.{'ab' * 16}-future"),
        ("unknown-file", "notes.txt"),
        ("unknown-file", "readme"),
        ("leftover", f"{0:020d}.log.deleted"),
        ("leftover", f"{0:020d}.log.swap"),
        ("orphan", f"{7:020d}.index"),
    }


def test_a_swap_that_the_next_start_finishes_is_read(verify: Verify, log_dir: Path) -> None:
    folder = log_dir / "plain-0"
    swap = folder / f"{0:020d}.log.swap"
    swap.write_bytes(segments(folder)[0].read_bytes())
    assert verify(log_dir).is_sound
    with changed(swap) as content:
        content[-1] ^= 1
    assert damages(verify(log_dir)) == {("swap", swap.name)}
    (folder / f"{0:020d}.log.cleaned").touch()  # the swap is thrown away then
    assert verify(log_dir).is_sound


# While a broker runs


@pytest.fixture
def in_use(killed: Path) -> Iterator[Path]:
    """A directory that another process holds."""
    program = (
        "import sys; from logquake.storage.disk.real_disk import RealLock;"
        "lock = RealLock(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(killed / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        yield killed
        holder.communicate()


def test_in_use_only_what_is_stable_is_read(verify: Verify, in_use: Path) -> None:
    log = segments(in_use / "plain-0")[-1]
    (in_use / "replication-offset-checkpoint").write_text("0\n2\norders 0 117\nplain 0 129\n")
    with changed(log) as content:
        content[-1] ^= 1  # above the high watermark, as a write in flight
    report = verify(in_use)
    assert report.is_sound
    assert report.directories[0].state.name == "LIVE"
    assert ("live", in_use.name) in notes(report)
    assert [each.end_offset for each in report.directories[0].partitions] == [117, 129]


def test_in_use_damage_below_the_high_watermark_is_found(verify: Verify, in_use: Path) -> None:
    log = segments(in_use / "plain-0")[0]
    with changed(log) as content:
        content[80] ^= 1
    assert ("checksum", log.name) in damages(verify(in_use))


def test_the_start_of_the_epochs_may_be_ahead_of_its_checkpoint(
    verify: Verify, killed: Path
) -> None:
    """As when a broker dies soon after a DeleteRecords."""
    (killed / "plain-0" / "leader-epoch-checkpoint").write_text("0\n1\n0 27\n")
    assert verify(killed).is_sound


def test_message_sets_have_no_epochs(verify: Verify, log_dir: Path) -> None:
    """A Kafka that is told to write message sets again forgets the epochs of the batches."""
    folder = log_dir / "plain-0"
    first = segments(folder)[0]
    position, header = batches(first)[-1]
    sets = b"".join(
        encode_message_set([Record(offset, 0, b"k", b"v")], 1)
        for offset in range(header.base_offset)
    )
    first.write_bytes(sets + first.read_bytes()[position:])
    for suffix in (".index", ".timeindex"):
        first.with_suffix(suffix).write_bytes(b"")
    (folder / "leader-epoch-checkpoint").write_text("0\n0\n")
    assert {kind for kind, _ in damages(verify(log_dir))} == {"index"}  # the latest time, emptied
