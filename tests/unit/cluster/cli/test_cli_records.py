"""Lines to records and records to text."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from logquake.client import OffsetAndMetadata
from logquake.client.consumer.records import ConsumerRecord
from logquake.client.errors import ClientError, RebalanceInProgressError
from logquake.cluster.cli.consume import beginning
from logquake.cluster.cli.escapes import unescaped
from logquake.cluster.cli.progress import Progress
from logquake.cluster.cli.record_format import as_json, formatted
from logquake.cluster.cli.record_input import LineFormat, Lines, Typed, parse_headers
from logquake.cluster.cli.record_output import RecordOutput
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.offset_resets import (
    ResetGoal,
    ShiftBy,
    ToEarliest,
    ToLatest,
    ToOffset,
    ToTime,
)
from logquake.wire.topic_partition import TopicPartition

PLACE = TopicPartition("orders", 2)


def record(
    offset: int,
    value: bytes | None,
    key: bytes | None = None,
    headers: tuple[tuple[str, bytes | None], ...] = (),
) -> ConsumerRecord:
    return ConsumerRecord(PLACE, offset, 1_700, False, key, value, headers, 4)


RECORD = record(7, b"value", b"k", (("a", b"1"), ("b", None)))


@pytest.mark.parametrize(
    ("text", "meaning"),
    [("a\\tb", b"a\tb"), ("\\x1f", b"\x1f"), ("\\\\n", b"\\n"), ("ü", "ü".encode()), ("", b"")],
)
def test_escapes(text: str, meaning: bytes) -> None:
    assert unescaped(text) == meaning


@pytest.mark.parametrize("text", ["\\q", "a\\"])
def test_what_is_no_escape(text: str) -> None:
    with pytest.raises(ClusterError, match=r"backslash|no escape"):
        unescaped(text)


def test_lines_are_cut_wherever_the_pieces_end() -> None:
    lines = Lines(b"\r\n")
    assert [lines.add(piece) for piece in (b"a\r", b"\nb\r\nc", b"d")] == [[], [b"a", b"b"], []]
    assert (lines.end(), lines.end()) == ([b"cd"], [])


@pytest.mark.parametrize(
    ("line", "key", "value"),
    [
        (b"k:v:w", b"k", b"v:w"),
        (b"v", b"default", b"v"),
        (b":", None, None),
        (b"", b"default", None),
    ],
)
def test_a_line_brings_its_key(line: bytes, key: bytes | None, value: bytes | None) -> None:
    lines = LineFormat(key_separator=b":", key=b"default", empty_is_null=True)
    assert lines.record(line)[:2] == (key, value)


def test_an_empty_line_is_an_empty_value_unless_told_otherwise() -> None:
    assert LineFormat().record(b"") == Typed(None, b"")


def test_headers() -> None:
    assert parse_headers(["a=1=2", "b", "c="]) == (("a", b"1=2"), ("b", None), ("c", b""))
    with pytest.raises(ClusterError, match="'=1' is no header"):
        parse_headers(["=1"])


@pytest.mark.parametrize(
    ("template", "text"),
    [
        ("%t-%p@%o %T\\n", b"orders-2@7 1700\n"),
        ("%k=%s (%K, %S)", b"k=value (1, 5)"),
        ("%h", b"a=1,b=NULL"),
        ("%R%s", b"\0\0\0\5value"),
        ("100%%", b"100%"),
    ],
)
def test_formats_are_those_of_kcat(template: str, text: bytes) -> None:
    assert formatted(template)(RECORD) == text


def test_null_has_the_length_of_minus_one() -> None:
    assert formatted("%s%S%K")(record(0, None)) == b"-1-1"


@pytest.mark.parametrize("template", ["%x", "50%"])
def test_what_is_no_field(template: str) -> None:
    with pytest.raises(ClusterError, match="is no field: choose of %t"):
        formatted(template)


def test_json_has_kcats_names() -> None:
    line = as_json(RECORD)
    assert line.endswith(b"\n")
    assert json.loads(line) == {
        "topic": "orders",
        "partition": 2,
        "offset": 7,
        "ts": 1700,
        "headers": ["a", "1", "b", None],
        "key": "k",
        "payload": "value",
    }


def test_json_tells_bytes_that_are_no_text_from_replacement_characters() -> None:
    headers = (("a", b"\xff"), ("b", None), ("c", b"1"))
    told = json.loads(as_json(record(7, b"\xff", "\ufffd".encode(), headers)))
    assert told["key"] == told["payload"] == "\ufffd"
    assert told["payload_base64"] == "/w=="
    assert told["headers_base64"] == ["a", "/w==", "b", None, "c", "MQ=="]
    assert "key_base64" not in told


@pytest.mark.parametrize(
    ("text", "goal"),
    [
        ("beginning", ToEarliest()),
        ("end", ToLatest()),
        ("17", ToOffset(17)),
        ("-5", ShiftBy(-5)),
        ("@1700", ToTime(1700)),
        ("@1970-01-01T00:00:01", ToTime(1000)),
    ],
)
def test_places_to_begin(text: str, goal: ResetGoal) -> None:
    assert beginning(text) == goal


def test_what_is_no_place_to_begin() -> None:
    with pytest.raises(ClusterError, match="'middle' is no place to begin"):
        beginning("middle")


def test_no_more_is_written_than_was_asked_for() -> None:
    file, progress = BytesIO(), Progress("read", quiet=True)
    output = RecordOutput(file, formatted("%s"), 3, progress)
    output.take([record(n, b"%d" % n) for n in range(5)])
    output.take([record(5, b"5")])
    assert (file.getvalue(), output.is_full, progress.records) == (b"012", True, 3)
    output.flush()
    assert output.positions == {PLACE: OffsetAndMetadata(3, 4)}


class Gone(BytesIO):
    """Whose reader is."""

    def flush(self) -> None:
        raise BrokenPipeError


def test_what_the_reader_of_the_output_may_not_have_is_not_committed() -> None:
    output = RecordOutput(Gone(), formatted("%s"), None, Progress("read", quiet=True))
    output.take([record(0, b"lost")])
    with pytest.raises(BrokenPipeError):
        output.flush()
    assert output.positions == {}


@pytest.mark.parametrize(
    ("error", "again"),
    [(None, {}), (RebalanceInProgressError("no"), {PLACE: OffsetAndMetadata(1, 4)})],
)
def test_a_commit_that_failed_is_made_again(
    error: ClientError | None, again: dict[TopicPartition, OffsetAndMetadata]
) -> None:
    output = RecordOutput(BytesIO(), formatted("%s"), None, Progress("read", quiet=True))
    output.take([record(0, b"first")])
    output.flush()
    output.committed(dict(output.positions), error)
    assert output.positions == again


def test_what_was_written_since_a_commit_is_committed_too() -> None:
    output = RecordOutput(BytesIO(), formatted("%s"), None, Progress("read", quiet=True))
    output.take([record(0, b"first")])
    output.flush()
    asked = dict(output.positions)
    output.take([record(1, b"second")])
    output.flush()
    output.committed(asked, None)
    assert output.positions == {PLACE: OffsetAndMetadata(2, 4)}
