"""What ends a job that nobody has to read a stack trace for, in a line."""

from __future__ import annotations

import re

from logquake.chaos.history.reader import HistoryError
from logquake.cluster.errors import ClusterError
from logquake.pipeline.asking import BrokersError
from logquake.pipeline.jobs.lake.ledger import LakeError
from logquake.pipeline.jobs.topic_arguments import ALLOW_DATA_LOSS
from logquake.pipeline.options.values import OptionError
from logquake.pipeline.sink.marks import ExactlyOnceError
from logquake.pipeline.source.admission import GOES_ON_BY, DataLossError

_OURS = (
    BrokersError,
    ClusterError,
    DataLossError,
    ExactlyOnceError,
    HistoryError,
    LakeError,
    OptionError,
)
# A worker's trace ends with the line of what it met; Spark hands the trace on as text.
_NAMES = "|".join(error.__name__ for error in _OURS)
_LINE = re.compile(rf"^(?:[\w.]+\.)?((?:{_NAMES}): .*)$", re.MULTILINE)


def told_in_a_line() -> tuple[type[Exception], ...]:
    """Spark's is imported when it is needed, as all of Spark is."""
    from pyspark.errors import PySparkException

    return (*_OURS, PySparkException)


def line_of(error: Exception) -> str:
    """In the words of a job's arguments, where the source knows of its options alone."""
    return _line_of(error).replace(GOES_ON_BY, ALLOW_DATA_LOSS)


def _line_of(error: Exception) -> str:
    if isinstance(error, _OURS):
        return str(error)
    text = str(error)
    found = _LINE.search(text)
    return found[1] if found else text.strip().partition("\n")[0]
