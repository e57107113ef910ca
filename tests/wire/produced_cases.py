"""Produced batches that are odd in every way, what is made of them here, and what may differ.

The verdicts of Kafka 3.9.1 on some are kept in vectors/produced-3.9.1.jsonl.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from logquake.storage.log.produced_batches import ProducedBatches
from logquake.storage.log_config import LogConfig, TimestampType
from logquake.wire.compression import Codec
from logquake.wire.errors import ErrorCode, RecordError
from logquake.wire.records import (
    BatchHeader,
    Record,
    RejectedRecordsError,
    iterate_records,
    patch_base,
    read_header,
    read_produced,
    set_max_timestamp,
)
from logquake.wire.records.walk import Walk, walk_exactly, walk_records
from tests.fuzz.batches import damaged_batch
from tests.wire.records_oracle import Produced, Verdict

VECTORS = Path(__file__).with_name("vectors") / "produced-3.9.1.jsonl"
NOW_MS = 1_700_000_000_000
LIMIT_BYTES = 1 << 20
UNKNOWN_SERVER_ERROR = int(ErrorCode.UNKNOWN_SERVER_ERROR)
# Of INVALID_RECORD, where Kafka accepts or finds another fault first (validation.py tells why).
STRICTER = (
    "with producer id",
    "without a producer id",
    "is not its place in the batch",
    "unreadable records",
    "lz4: incomplete frame",  # whose end mark is marked as incompressible
    "unknown header flags set",  # which gzip reserves
)
# Of MESSAGE_TOO_LARGE, here and there, for what was compressed anew by different libraries.
RECOMPRESSED = ("rewritten, ", "made anew, ")


def produced(random: Random) -> Produced:
    return Produced(
        damaged_batch(random, NOW_MS),
        version=random.choice((3, 6, 7, 11)),
        now_ms=NOW_MS,
        config=_config(random),
        end_offset=random.choice((0, 1000)),
        leader_epoch=random.choice((0, 4)),
    )


def _config(random: Random) -> LogConfig:
    bounded = random.random() < 0.2
    return LogConfig(
        compression=random.choice((None, None, None, *Codec)),
        compacted=random.random() < 0.15,
        message_timestamp_type=random.choice((*[TimestampType.CREATE_TIME] * 3, *TimestampType)),
        timestamp_before_max_ms=1000 if bounded else LogConfig().timestamp_before_max_ms,
        timestamp_after_max_ms=50 if bounded else LogConfig().timestamp_after_max_ms,
        max_message_bytes=200 if random.random() < 0.05 else LogConfig().max_message_bytes,
    )


def verdict_here(case: Produced) -> Verdict:
    """As a leader's log makes it of the case."""
    view = memoryview(bytearray(case.records))
    batches = ProducedBatches("t-0", case.config)
    try:
        header = read_produced(view, case.version)
        accepted = batches.accept(view, header, case.now_ms)
        assert accepted is not None
        records, header, timestamp = batches.in_topic_codec(accepted)
    except RejectedRecordsError as error:
        return Verdict(error.code, error.detail, error.record_errors)
    except RecordError as error:
        return Verdict(error.code, error.detail)
    append_time = case.config.message_timestamp_type is TimestampType.LOG_APPEND_TIME
    patch_base(records, 0, case.end_offset, case.leader_epoch)
    set_max_timestamp(
        records,
        0,
        header,
        log_append_time=append_time,
        max_timestamp=case.now_ms if append_time else timestamp,
    )
    return Verdict(0, appended=bytes(records[: header.size]))


def difference(case: Produced, ours: Verdict, theirs: Verdict) -> str | None:
    """Why the verdicts differ, empty where they should not; None where they do not."""
    if ours.error != theirs.error:
        return _difference_of_codes(ours, theirs) or _difference_of_reading(case)
    if ours.error:
        same = ours.record_errors == theirs.record_errors
        if same or _is_stricter(ours) or "before 1970" in ours.said:
            return None
        return _difference_of_reading(case)
    if ours.appended == theirs.appended:
        return None
    if case.config.compression is None or content(ours.appended) != content(theirs.appended):
        return _difference_of_reading(case)
    return None  # compressed by other libraries


def _difference_of_codes(ours: Verdict, theirs: Verdict) -> str:
    if any(words in verdict.said for words in RECOMPRESSED for verdict in (ours, theirs)):
        return "too large after another library's compression"
    if theirs.error == UNKNOWN_SERVER_ERROR and ours.error:
        return "refused, where Kafka fails"
    if ours.error == ErrorCode.INVALID_RECORD and _is_stricter(ours):
        return "refused more strictly"
    return ""


def _difference_of_reading(case: Produced) -> str:
    """The compiled reader takes attributes for a varint, and varints of any length.

    And what has its offsets put right is judged afterwards, in words that have the new ones.
    """
    view = memoryview(bytearray(case.records))
    header = read_header(view)
    fast, exact = (_walked(walk, view, header) for walk in (walk_records, walk_exactly))
    if fast != exact:
        return "misread by the compiled reader"
    is_in_order = all(place == each[0] for place, each in enumerate(exact or ()))
    return "" if is_in_order else "told of in other words"


def _walked(walk: Walk, view: memoryview, header: BatchHeader) -> list[tuple[Any, ...]] | None:
    try:
        return [
            (each.offset, each.timestamp, each.key, each.value, each.headers)
            for each in walk(view, 0, header, LIMIT_BYTES)
        ]
    except RecordError:
        return None


def _is_stricter(ours: Verdict) -> bool:
    return any(words in ours.said for words in STRICTER)


def content(batch: bytes) -> tuple[BatchHeader, list[Record]]:
    view = memoryview(bytearray(batch))
    header = read_header(view)
    records = list(iterate_records(view, 0, header, LIMIT_BYTES))
    return header._replace(crc=0, batch_length=0), records


def store(judged: list[tuple[Produced, Verdict]]) -> None:
    lines = (json.dumps(_packed(case, verdict)) for case, verdict in judged)
    VECTORS.write_text("\n".join(lines) + "\n")


def stored() -> Iterator[tuple[Produced, Verdict]]:
    for line in VECTORS.read_text().splitlines():
        yield _unpacked(json.loads(line))


def _packed(case: Produced, verdict: Verdict) -> dict[str, Any]:
    config = case.config
    return {
        "records": _text(case.records),
        "version": case.version,
        "end_offset": case.end_offset,
        "leader_epoch": case.leader_epoch,
        "compression": None if config.compression is None else config.compression.name,
        "compacted": config.compacted,
        "timestamps": config.message_timestamp_type.value,
        "before_max_ms": config.timestamp_before_max_ms,
        "after_max_ms": config.timestamp_after_max_ms,
        "max_message_bytes": config.max_message_bytes,
        "error": verdict.error,
        "record_errors": verdict.record_errors,
        "appended": _text(verdict.appended),
    }


def _unpacked(line: dict[str, Any]) -> tuple[Produced, Verdict]:
    config = LogConfig(
        compression=None if line["compression"] is None else Codec[line["compression"]],
        compacted=line["compacted"],
        message_timestamp_type=TimestampType(line["timestamps"]),
        timestamp_before_max_ms=line["before_max_ms"],
        timestamp_after_max_ms=line["after_max_ms"],
        max_message_bytes=line["max_message_bytes"],
    )
    case = Produced(
        _bytes(line["records"]),
        version=line["version"],
        now_ms=NOW_MS,
        config=config,
        end_offset=line["end_offset"],
        leader_epoch=line["leader_epoch"],
    )
    faults = tuple((place, said) for place, said in line["record_errors"])
    return case, Verdict(line["error"], "", faults, _bytes(line["appended"]))


def _text(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 9)).decode()


def _bytes(text: str) -> bytes:
    return zlib.decompress(base64.b64decode(text))
