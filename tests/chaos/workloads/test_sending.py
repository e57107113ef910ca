"""What became of sends, by librdkafka's word: without a broker nothing is acked."""

from __future__ import annotations

from pathlib import Path

import pytest
from confluent_kafka import KafkaError, Producer

from logquake.chaos.history.reader import read_file
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.history.writer import HistoryWriter
from logquake.chaos.workloads.sending import Record, Sender, SentRows, is_nowhere

NOBODY = "127.0.0.1:1"
PATIENCE_S = 60.0


def outcomes(tmp_path: Path, record: Record, timeout_ms: int, *, purge: bool = False) -> list[Row]:
    path = tmp_path / "producer.jsonl"
    settings = {"bootstrap.servers": NOBODY, "log_level": 0, "delivery.timeout.ms": timeout_ms}
    with HistoryWriter(path, "producer") as history:
        sender = Sender(Producer(settings), "orders", SentRows(history, "orders"))
        sender.send(record)
        if purge:
            sender.producer.purge()
        assert sender.finish(PATIENCE_S) == 0
    return list(read_file(path))


def test_a_send_that_timed_out_is_of_unknown_fate(tmp_path: Path) -> None:
    sent, unknown = outcomes(tmp_path, Record(7, b"key", b"7", 3), timeout_ms=10)
    assert (sent.what, sent.subject, sent.value, sent.key) == (Kind.SEND, "orders-3", 7, "key")
    assert (unknown.what, unknown.subject, unknown.value) == (Kind.UNKNOWN, "orders-3", 7)
    assert (unknown.caused_by, unknown.why) == (sent.sequence, "_MSG_TIMED_OUT")


def test_what_was_taken_out_of_the_clients_queue_may_have_been_sent_before(tmp_path: Path) -> None:
    _, unknown = outcomes(tmp_path, Record(7, b"key", b"7", 3), timeout_ms=60_000, purge=True)
    assert (unknown.what, unknown.why) == (Kind.UNKNOWN, "_PURGE_QUEUE")


@pytest.mark.parametrize(
    ("error", "tries_again", "expected"),
    [
        (KafkaError.NOT_ENOUGH_REPLICAS, True, False),  # an attempt before may have got through
        (KafkaError.NOT_ENOUGH_REPLICAS, False, True),
        (KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND, False, False),
        (KafkaError.NOT_LEADER_FOR_PARTITION, False, False),
        (KafkaError.MSG_SIZE_TOO_LARGE, True, True),
    ],
)
def test_some_errors_say_that_a_record_is_nowhere(
    error: int, *, tries_again: bool, expected: bool
) -> None:
    assert is_nowhere(error, tries_again=tries_again) is expected


def test_a_send_that_the_client_does_not_take_is_refused(tmp_path: Path) -> None:
    _, refused = outcomes(tmp_path, Record(7, b"key", bytes(1 << 21), 3), timeout_ms=60_000)
    assert (refused.what, refused.why) == (Kind.REFUSED, "MSG_SIZE_TOO_LARGE")


def test_a_tombstone_and_what_a_record_was_made_of_are_told(tmp_path: Path) -> None:
    record = Record(7, b"key", None, 3, [("number", b"7")], 1, ("orders-0", 812))
    sent, _ = outcomes(tmp_path, record, timeout_ms=60_000, purge=True)
    assert (sent.after, sent.caused_by, sent.before) == ("tombstone", 1, ["orders-0", 812])
