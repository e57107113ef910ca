"""Replicas' files, as brokers write them, become columns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from logquake.chaos.evidence.log_files import read_log, read_logs
from logquake.chaos.evidence.stored import (
    ABORTED,
    COMMITTED,
    MISSING,
    OPEN,
    PLAIN,
    StoredLog,
)
from logquake.chaos.history.numbers import HEADER
from logquake.chaos.history.rows import NOT_SENT
from logquake.wire.compression import Codec
from logquake.wire.records import ControlType, Record, encode_batch
from tests.chaos.evidence.written import batch, end, replica


def test_batches_and_numbers_of_all_segments(tmp_path: Path) -> None:
    folder = replica(tmp_path / "orders-0", batch(0, 10, 11), batch(2, 12, codec=Codec.GZIP))
    log = read_log(1, folder)
    assert (log.start, log.end, log.damage, list(log.epochs)) == (0, 3, None, [(0, 0)])
    assert log.values.tolist() == [10, 11, 12]
    assert log.values_at(np.array([1, 2, 3])).tolist() == [11, 12, MISSING]


def test_what_no_workload_sent_and_what_has_its_number_in_a_header(tmp_path: Path) -> None:
    records = [Record(0, 0, b"k", b"hello"), Record(1, 0, b"k", None, ((HEADER, b"7"),))]
    records += [Record(2, 0, b"k", b"8", ((HEADER, b"9"),))]
    log = read_log(1, replica(tmp_path / "o-0", bytes(encode_batch(records, base_offset=0))))
    assert log.values.tolist() == [NOT_SENT, 7, 9]


def test_the_next_marker_of_its_producer_decides_a_transaction(tmp_path: Path) -> None:
    content = b"".join(
        (
            batch(0, 10, producer=7),
            batch(1, 11, producer=8),
            batch(2, 12),
            end(3, ControlType.COMMIT, 8),
            end(4, ControlType.ABORT, 7),
            batch(5, 13, producer=7),
        )
    )
    log = read_log(1, replica(tmp_path / "orders-0", content))
    assert log.record_fates.tolist() == [ABORTED, COMMITTED, PLAIN, OPEN]
    assert log.offsets.tolist() == [0, 1, 2, 5]
    assert log.committed_offsets.tolist() == [1, 2]


def test_another_replica_is_read_where_it_differs(tmp_path: Path) -> None:
    first = replica(tmp_path / "1" / "orders-0", batch(0, 10) + end(1, ControlType.COMMIT, 7))
    second = replica(
        tmp_path / "2" / "orders-0",
        batch(0, 10) + end(1, ControlType.COMMIT, 7) + batch(2, 11),
    )
    third = replica(tmp_path / "3" / "orders-0", batch(0, 10) + batch(1, 12))
    known = read_log(1, first)
    for folder in (first, second, third):
        alone, beside = read_log(2, folder), read_log(2, folder, known=known)
        assert fields(alone) == fields(beside)


def fields(log: StoredLog) -> tuple[object, ...]:
    return log.batches.tolist(), log.offsets.tolist(), log.values.tolist(), log.end


@pytest.mark.parametrize("cut", [1, 40, 69])
def test_a_file_may_end_within_a_batch(tmp_path: Path, cut: int) -> None:
    whole, torn = batch(0, 10), batch(1, 11)
    log = read_log(1, replica(tmp_path / "orders-0", whole + torn[:cut]))
    assert (log.values.tolist(), log.damage) == ([10], None)


def test_a_damaged_batch_ends_the_reading(tmp_path: Path) -> None:
    whole, damaged = batch(0, 10), bytearray(batch(1, 11))
    damaged[-3] ^= 1
    log = read_log(1, replica(tmp_path / "orders-0", whole + bytes(damaged) + batch(2, 12)))
    assert log.values.tolist() == [10]
    assert log.damage is not None
    assert f"at byte {len(whole)}" in log.damage


def test_all_partitions_of_all_brokers(tmp_path: Path) -> None:
    for broker in (1, 2):
        data = tmp_path / str(broker)
        replica(data / "orders-0", batch(0, 10))
        replica(data / "other-1", batch(0, 10))
        (data / "log-start-offset-checkpoint").write_text("0\n1\norders 0 1\n")
    dirs = {broker: [tmp_path / str(broker)] for broker in (1, 2)}
    logs = read_logs(dirs, frozenset({"orders-0"}))
    assert {name: sorted(replicas) for name, replicas in logs.items()} == {"orders-0": [1, 2]}
    assert logs["orders-0"][1].start == 1
    assert sorted(read_logs(dirs)) == ["orders-0", "other-1"]
