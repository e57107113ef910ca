"""What a local session's Python workers are forked from: Spark's own daemon, its imports done.

Without it every worker, of a plan as of a task, imports pyarrow and this package anew.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.daemon import manager

from logquake.pipeline.formats import topics
from logquake.pipeline.source.decoding import rows

__all__ = ["pa", "rows", "topics"]  # imported for the workers

if __name__ == "__main__":
    manager()
