"""``python -m logquake.pipeline BOOTSTRAP_SERVERS TOPIC``: Spark counts a topic's records by key.

Prints one JSON object, key to count. It is a process of its own so that whoever asks needs no JVM
inside, and so that Spark's memory is gone when the answer is there.
"""

from __future__ import annotations

import json
import sys

from logquake.pipeline.session import spark_session
from logquake.pipeline.verify import count_by_key


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print("usage: python -m logquake.pipeline BOOTSTRAP_SERVERS TOPIC", file=sys.stderr)
        return 2
    bootstrap_servers, topic = arguments
    spark = spark_session("count records by key")
    try:
        print(json.dumps(count_by_key(spark, bootstrap_servers, topic)))
    finally:
        spark.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
