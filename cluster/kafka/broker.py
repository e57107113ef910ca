"""A broker of Apache Kafka: the JVM that runs it, and what its server.properties says.

The heap is small, since several share a machine with what they are tested with; KAFKA_HEAP_OPTS
says otherwise, as it does to Kafka's own scripts. What Kafka logs goes to standard output, in UTC.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from logquake.cluster.processes.java import QUICK_START, Java

MAIN_CLASS = "kafka.Kafka"
HEAP_VARIABLE = "KAFKA_HEAP_OPTS"
# The cleaner takes 128 MiB of it at the start (log.cleaner.dedupe.buffer.size).
DEFAULT_HEAP = "-Xmx512m"
_JVM_FLAGS = (*QUICK_START, "-Duser.timezone=UTC")
_OUR_OWN = "logquake."

LOG4J = """\
log4j.rootLogger=INFO, stdout
log4j.appender.stdout=org.apache.log4j.ConsoleAppender
log4j.appender.stdout.layout=org.apache.log4j.PatternLayout
log4j.appender.stdout.layout.ConversionPattern=[%d] %p %m (%c)%n
log4j.logger.org.apache.zookeeper=WARN
log4j.logger.kafka.request.logger=WARN
log4j.logger.org.apache.kafka.clients=WARN
log4j.logger.state.change.logger=INFO
"""


def broker_command(
    java: Java,
    libraries: Path,
    properties: Path,
    log4j: Path,
    *flags: str,
    environment: Mapping[str, str] = os.environ,
) -> list[str]:
    heap = environment.get(HEAP_VARIABLE, DEFAULT_HEAP).split()
    return [
        str(java.executable),
        *heap,
        *_JVM_FLAGS,
        f"-Dlog4j.configuration=file:{log4j}",
        *flags,
        "-cp",
        f"{libraries}/*",
        MAIN_CLASS,
        str(properties),
    ]


def without_our_own(properties: Mapping[str, str]) -> dict[str, str]:
    """Kafka would take them for mistakes."""
    return {key: value for key, value in properties.items() if not key.startswith(_OUR_OWN)}
