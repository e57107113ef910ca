"""What a local session's Python workers are forked from: Spark's own daemon, its imports done.

Without it every worker, of a plan as of a task, imports pyarrow and this package anew.
"""

from __future__ import annotations

import pyarrow as pa
from pyspark.daemon import manager

from logquake.pipeline import source

__all__ = ["pa", "source"]  # imported for the workers

if __name__ == "__main__":
    manager()
