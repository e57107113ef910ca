"""Kafka's command-line tools by the names of their scripts, most in one JVM (java/ToolServer.java).

A JVM costs more than a second of a core to start; most tools need a tenth of one.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.compat.kafka_programs import KafkaPrograms

SOURCE = Path(__file__).with_name("java") / "ToolServer.java"

_TOOLS = "org.apache.kafka.tools."
MAIN_CLASSES = {
    "kafka-acls": "kafka.admin.AclCommand",
    "kafka-broker-api-versions": "kafka.admin.BrokerApiVersionsCommand",
    "kafka-client-metrics": _TOOLS + "ClientMetricsCommand",
    "kafka-cluster": _TOOLS + "ClusterTool",
    "kafka-configs": "kafka.admin.ConfigCommand",
    "kafka-console-consumer": _TOOLS + "consumer.ConsoleConsumer",
    "kafka-console-producer": "kafka.tools.ConsoleProducer",
    "kafka-consumer-groups": _TOOLS + "consumer.group.ConsumerGroupCommand",
    "kafka-consumer-perf-test": _TOOLS + "ConsumerPerformance",
    "kafka-delegation-tokens": _TOOLS + "DelegationTokenCommand",
    "kafka-delete-records": _TOOLS + "DeleteRecordsCommand",
    "kafka-dump-log": "kafka.tools.DumpLogSegments",
    "kafka-e2e-latency": _TOOLS + "EndToEndLatency",
    "kafka-features": _TOOLS + "FeatureCommand",
    "kafka-get-offsets": _TOOLS + "GetOffsetShell",
    "kafka-leader-election": _TOOLS + "LeaderElectionCommand",
    "kafka-log-dirs": _TOOLS + "LogDirsCommand",
    "kafka-metadata-quorum": _TOOLS + "MetadataQuorumCommand",
    "kafka-producer-perf-test": _TOOLS + "ProducerPerformance",
    "kafka-reassign-partitions": _TOOLS + "reassign.ReassignPartitionsCommand",
    "kafka-streams-application-reset": _TOOLS + "StreamsResetter",
    "kafka-topics": _TOOLS + "TopicCommand",
    "kafka-transactions": _TOOLS + "TransactionsCommand",
    "kafka-verifiable-consumer": _TOOLS + "VerifiableConsumer",
    "kafka-verifiable-producer": _TOOLS + "VerifiableProducer",
}


# They end by the JVM's own end, or do something more at it.
_OWN_JVM = ("kafka-verifiable-consumer", "kafka-verifiable-producer")


@dataclass(frozen=True, slots=True)
class Said:
    status: int
    out: str
    err: str


class KafkaTools:
    def __init__(self, programs: KafkaPrograms, process: subprocess.Popen[str]) -> None:
        self._programs = programs
        self._process = process

    def run(self, tool: str, *arguments: str, typed: str = "") -> Said:
        if tool in _OWN_JVM:
            done = self._programs.complete(MAIN_CLASSES[tool], *arguments)
            return Said(done.returncode, done.stdout, done.stderr)
        commands, answers = self._process.stdin, self._process.stdout
        assert commands is not None
        assert answers is not None
        command = {"main": MAIN_CLASSES[tool], "arguments": arguments, "typed": typed}
        commands.write(json.dumps(command) + "\n")
        commands.flush()
        answer = answers.readline()
        assert answer, f"{tool} has ended the JVM"
        return Said(**json.loads(answer))


@contextmanager
def kafka_tools(programs: KafkaPrograms) -> Iterator[KafkaTools]:
    process = subprocess.Popen(
        programs.command(str(SOURCE)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    try:
        yield KafkaTools(programs, process)
    finally:
        process.kill()
        process.communicate()
