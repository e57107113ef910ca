"""What kafkajs' scripts ask of docker: which container runs, and to run kafka-topics in it."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence

from confluent_kafka.admin import AdminClient, NewPartitions

ADMIN_S = 30


def main(servers: str, verb: str, *arguments: str) -> None:
    """``docker ps ...``, or ``docker exec CONTAINER bash -c COMMAND``."""
    if verb == "ps":
        print("kafka1")
    elif verb == "exec":
        tool, *options = shlex.split(arguments[-1])
        if tool != "kafka-topics":
            raise SystemExit(f"nobody has needed {tool} yet")
        _add_partitions(servers, options)


def _add_partitions(servers: str, options: Sequence[str]) -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--zookeeper")
    parser.add_argument("--alter", action="store_true", required=True)
    parser.add_argument("--topic", required=True)
    parser.add_argument("--partitions", type=int, required=True)
    wanted = parser.parse_args(options)
    admin = AdminClient({"bootstrap.servers": servers})
    for done in admin.create_partitions([NewPartitions(wanted.topic, wanted.partitions)]).values():
        done.result(ADMIN_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
