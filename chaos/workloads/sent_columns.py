"""A log of sends in memory, in columns: for hundreds of thousands a second, of which a line each
would be most of the work.

What a process had sent is lost with it when it is killed: for one that is killed there are rows
(`sending.py:SentRows`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from logquake.chaos.history.outcomes import Outcome
from logquake.chaos.history.parquet import SCHEMA
from logquake.chaos.history.rows import Kind
from logquake.chaos.history.writer import wall_us
from logquake.chaos.workloads.sending import Record

Column = npt.NDArray[np.int64]
_NONE = -1
_KINDS = {Outcome.ACKED: Kind.ACKED, Outcome.REFUSED: Kind.REFUSED, Outcome.UNKNOWN: Kind.UNKNOWN}


class SentColumns:
    """A `sending.py:SendLog` of one process, in no transaction; some 50 bytes a send, beside keys
    and reasons. Records must name their partition, which is below 2^15.
    """

    def __init__(self, now_us: Callable[[], int] = wall_us) -> None:
        self._now_us = now_us
        self._numbers, self._asked_us = array("q"), array("q")
        self._partitions, self._keys = array("h"), array("l")
        self._outcomes, self._offsets = array("b"), array("q")
        self._answered_us, self._reasons = array("q"), array("l")
        self._key_names: dict[bytes, int] = {}
        self._reason_names: dict[str, int] = {}
        self.acked_count = 0

    def __len__(self) -> int:
        """How many sends there were."""
        return len(self._numbers)

    def sent(self, record: Record) -> int:
        """Its place in the columns."""
        self._numbers.append(record.number)
        self._partitions.append(record.partition)
        self._keys.append(self._key_names.setdefault(record.key, len(self._key_names)))
        self._outcomes.append(Outcome.UNKNOWN)
        self._offsets.append(_NONE)
        self._reasons.append(_NONE)
        self._answered_us.append(_NONE)
        self._asked_us.append(self._now_us())
        return len(self._numbers) - 1

    def acked(self, _record: Record, sent: int, _partition: int, offset: int | None) -> None:
        self._outcomes[sent] = Outcome.ACKED
        self._offsets[sent] = _NONE if offset is None else offset
        self._answered_us[sent] = self._now_us()
        self.acked_count += 1

    def refused(self, _record: Record, sent: int, why: str) -> None:
        self._fail(sent, Outcome.REFUSED, why)

    def unknown(self, _record: Record, sent: int, why: str) -> None:
        self._fail(sent, Outcome.UNKNOWN, why)

    def _fail(self, sent: int, outcome: Outcome, why: str) -> None:
        self._outcomes[sent] = outcome
        self._reasons[sent] = self._reason_names.setdefault(why, len(self._reason_names))
        self._answered_us[sent] = self._now_us()

    def outcome(self, sent: int) -> Outcome:
        return Outcome(self._outcomes[sent])

    def busiest_partition(self) -> int:
        """The one with the most acks so far; 0 before the first."""
        acked = _column(self._partitions)[_column(self._outcomes) == Outcome.ACKED]
        return int(np.bincount(acked).argmax()) if len(acked) else 0

    def longest_silence_us(self, partition: int) -> int:
        """The longest time between two acks of the partition."""
        mine = _column(self._outcomes) == Outcome.ACKED
        mine &= _column(self._partitions) == partition
        gaps = np.diff(np.sort(_column(self._answered_us)[mine]))
        return int(gaps.max()) if len(gaps) else 0

    def table(self, process: str, topic: str) -> pa.Table:
        """Rows by time, as `history/parquet.py` has them; numbered from 2 on, behind ``began``."""
        asked_us, answered_us = _column(self._asked_us), _column(self._answered_us)
        answers = np.flatnonzero(answered_us != _NONE)
        sends = np.arange(len(asked_us))
        # Of the columns of sends and those of answers: who is where, by time.
        order = np.argsort(np.concatenate((asked_us, answered_us[answers])), kind="stable")
        place = np.concatenate((sends, answers))[order]
        is_send = order < len(sends)
        sequence = np.arange(2, len(order) + 2)
        sent_as = np.empty(len(sends), np.int64)
        sent_as[place[is_send]] = sequence[is_send]
        partitions = [f"{topic}-{each}" for each in range(max(self._partitions, default=-1) + 1)]
        keys = [key.decode(errors="backslashreplace") for key in self._key_names]
        kinds = [str(Kind.SEND), *(str(_KINDS[Outcome(each)]) for each in range(len(Outcome)))]
        columns = {
            "at_us": pa.array(np.where(is_send, asked_us[place], answered_us[place])),
            "process": _named(np.zeros(len(order), np.int64), [process]),
            "sequence": pa.array(sequence),
            "what": _named(np.where(is_send, 0, _column(self._outcomes)[place] + 1), kinds),
            "subject": _named(_column(self._partitions)[place], partitions),
            "offset": _nullable(np.where(is_send, _NONE, _column(self._offsets)[place])),
            "value": pa.array(_column(self._numbers)[place]),
            "key": _named(_column(self._keys)[place], keys),
            "why": _named(
                np.where(is_send, _NONE, _column(self._reasons)[place]), list(self._reason_names)
            ),
            "caused_by": _nullable(np.where(is_send, _NONE, sent_as[place])),
        }
        missing = (pa.nulls(len(order), field.type) for field in SCHEMA)
        found = [columns.get(*each) for each in zip(SCHEMA.names, missing, strict=True)]
        return pa.Table.from_arrays(found, schema=SCHEMA)


def _column(values: array[int]) -> Column:
    """A copy: what is looked at can't grow."""
    return np.array(values, np.int64)


def _nullable(column: Column) -> pa.Array:
    return pa.array(column, pa.int64(), mask=column == _NONE)


def _named(column: Column, names: Sequence[str]) -> pa.Array:
    indices = pa.array(column, pa.int32(), mask=column == _NONE)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names, pa.string())).cast(pa.string())
