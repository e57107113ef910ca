"""aiokafka's compiled reader and writer of record batches, and nothing else of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from logquake.wire.alone import import_alone

if TYPE_CHECKING:
    from aiokafka.errors import CorruptRecordException
    from aiokafka.record.default_records import (
        DefaultRecord,
        DefaultRecordBatch,
        DefaultRecordBatchBuilder,
    )
else:
    _compiled = import_alone("aiokafka.record._crecords")
    DefaultRecord = _compiled.DefaultRecord
    DefaultRecordBatch = _compiled.DefaultRecordBatch
    DefaultRecordBatchBuilder = _compiled.DefaultRecordBatchBuilder
    CorruptRecordException = import_alone("aiokafka.errors").CorruptRecordException

__all__ = [
    "CorruptRecordException",
    "DefaultRecord",
    "DefaultRecordBatch",
    "DefaultRecordBatchBuilder",
]
