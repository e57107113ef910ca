"""What a local session's Python workers are forked from: Spark's own daemon, its imports done.

Without it every worker, of a plan as of a task, imports pyarrow and this package anew.
"""

from __future__ import annotations

import sys
from importlib import import_module

import pyarrow as pa
from pyspark.daemon import manager

from logquake.pipeline.formats import topics
from logquake.pipeline.source.decoding import rows

__all__ = ["pa", "rows", "topics"]  # imported for the workers

_OF_TASKS = "pyspark.worker"  # what the daemon is told to run; plans have modules of their own
# Arrow imports pandas where it makes an array, to know pandas' own: so with the first of any task.
_TASKS_NEED = ("pandas", "logquake.pipeline.sink.encoding.plain")

if __name__ == "__main__":
    if _OF_TASKS in sys.argv:
        for name in _TASKS_NEED:
            import_module(name)
    manager()
