"""DescribeConfigs, AlterConfigs and IncrementalAlterConfigs are answered as Kafka 3.9.1 does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest

from logquake.node.configs.describing import ConfigSource
from logquake.node.replication.partition.partition import Partition
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.configs import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
    DescribeConfigsResourceResult,
    IncrementalAlterableConfig,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
)
from logquake.wire.messages.topics import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from logquake.zk.operations import Create, SetData
from logquake.zk.znodes.configs import ConfigChange, EntityConfig
from logquake.zk.znodes.parents import create_parents
from tests.compat.config_cases import (
    ALIKE,
    ALL_BROKERS,
    DELETE,
    OF_BROKER,
    OF_TOPIC,
    SET,
    TOPIC,
    TOPIC_CONFIG,
    cases,
    readable,
    stored,
)
from tests.doubles.journal import MemoryJournal
from tests.unit.node.requests.lone_broker import BROKER_ID, LoneBroker

OWN = str(BROKER_ID)


@pytest.fixture
def properties() -> dict[str, str]:
    return ALIKE | {"logquake.loop.busy.ms": "70", "a.key.of.nobody": "hidden"}


def alter(broker: LoneBroker, kind: int, name: str, **values: str | None) -> ErrorCode:
    """Set keys, written with _ for a dot, or unset them; the answer's error."""
    request = IncrementalAlterConfigsRequest(resources=[altered(kind, name, **values)])
    (response,) = broker.ask(request, 1).responses
    broker.settle()
    return ErrorCode(response.error_code)


def altered(kind: int, name: str, **values: str | None) -> IncrementalAlterConfigsResource:
    return IncrementalAlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=[
            IncrementalAlterableConfig(
                name=key.replace("_", "."),
                config_operation=DELETE if value is None else SET,
                value=value,
            )
            for key, value in values.items()
        ],
    )


def describe(
    broker: LoneBroker, kind: int, name: str, *keys: str
) -> Mapping[str, DescribeConfigsResourceResult]:
    resource = DescribeConfigsResource(
        resource_type=kind, resource_name=name, configuration_keys=list(keys) or None
    )
    (result,) = broker.ask(DescribeConfigsRequest(resources=[resource]), 4).results
    return {entry.name: entry for entry in result.configs}


def write(broker: LoneBroker, *operations: Create | SetData) -> None:
    """As somebody else does who has a session."""
    session_id = broker.zookeeper.model.open_session()
    for operation in operations:
        _, fired = broker.zookeeper.model.apply(session_id, operation)
        broker.zookeeper.deliver(fired)
    broker.settle()


def changed(entity: str, config: Mapping[str, str]) -> tuple[SetData, Create]:
    """How a broker writes it."""
    return (
        SetData(EntityConfig.path(entity), EntityConfig(config).encode()),
        Create(ConfigChange.path(), ConfigChange(entity).encode(), sequential=True),
    )


def data_of(broker: LoneBroker, path: str) -> bytes:
    found = broker.zookeeper.model.data(path)
    assert found is not None
    return found.data


def partition_of(broker: LoneBroker, topic: str) -> Partition:
    found = broker.parts.replicas.partition(topic, 0)
    assert found is not None
    return found


class TestAnswers:
    def test_what_kafka_was_asked_is_answered_as_kafka_did(
        self,
        scheduler: Any,
        journal: MemoryJournal,
        record_property: Callable[[str, object], None],
    ) -> None:
        """One after the other: what was changed shows itself in the answers that follow."""
        broker = LoneBroker(scheduler, journal, ALIKE)
        broker.start()
        broker.create_topic(TOPIC, config=TOPIC_CONFIG)
        expected = stored()
        for case in cases(BROKER_ID):
            answer = broker.ask(case.request, case.version)
            broker.settle()
            assert readable(answer, BROKER_ID) == expected[case.name], case.name
            record_property("requests about configurations are answered as a real Kafka did", 1)
        broker.broker.close()

    def test_who_makes_a_topic_is_told_what_describing_it_would_say(
        self, broker: LoneBroker
    ) -> None:
        topic = CreatableTopic(
            name=TOPIC,
            num_partitions=1,
            replication_factor=1,
            configs=[CreatableTopicConfig(name="retention.ms", value="5")],
        )
        request = CreateTopicsRequest(topics=[topic], timeout_ms=10_000)
        (made,) = broker.ask(request, 7).topics
        described = describe(broker, OF_TOPIC, TOPIC)
        told = {each.name: (each.value, each.config_source) for each in made.configs}
        assert told["retention.ms"] == ("5", ConfigSource.TOPIC)
        assert told == {name: (each.value, each.config_source) for name, each in described.items()}

    def test_every_key_is_documented_where_that_is_asked_for(self, broker: LoneBroker) -> None:
        broker.create_topic(TOPIC)
        resources = [
            DescribeConfigsResource(resource_type=kind, resource_name=name, configuration_keys=None)
            for kind, name in ((OF_TOPIC, TOPIC), (OF_BROKER, OWN))
        ]
        for asked in (True, False):
            request = DescribeConfigsRequest(resources=resources, include_documentation=asked)
            results = broker.ask(request, 4).results
            entries = [entry for result in results for entry in result.configs]
            assert len(entries) > 300
            documented = {entry.name for entry in entries if entry.documentation}
            undocumented = {"logquake.loop.busy.ms", "a.key.of.nobody"}
            everything = {entry.name for entry in entries}
            assert documented == (everything - undocumented if asked else set())

    def test_a_topic_whose_name_leads_elsewhere_does_not_exist(self, broker: LoneBroker) -> None:
        code = alter(broker, OF_TOPIC, "../brokers/1", retention_ms="5")
        assert code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION

    def test_own_keys_are_no_secrets_and_those_of_nobody_are(self, broker: LoneBroker) -> None:
        found = describe(broker, OF_BROKER, OWN, "logquake.loop.busy.ms", "a.key.of.nobody")
        assert found["logquake.loop.busy.ms"].value == "70"
        assert not found["logquake.loop.busy.ms"].is_sensitive
        assert found["a.key.of.nobody"].value is None
        assert found["a.key.of.nobody"].is_sensitive


class TestWhatZooKeeperHolds:
    def test_a_change_is_written_with_its_notification(self, broker: LoneBroker) -> None:
        broker.create_topic(TOPIC, config=TOPIC_CONFIG)
        alter(broker, OF_TOPIC, TOPIC, min_insync_replicas="2")
        alter(broker, OF_BROKER, ALL_BROKERS, message_max_bytes="5000")
        assert data_of(broker, f"/config/topics/{TOPIC}") == (
            b'{"version":1,"config":{"min.insync.replicas":"2","retention.ms":"1234"}}'
        )
        assert data_of(broker, "/config/brokers/<default>") == (
            b'{"version":1,"config":{"message.max.bytes":"5000"}}'
        )
        told = [
            data_of(broker, f"/config/changes/{name}")
            for name in broker.zookeeper.model.children("/config/changes")
        ]
        assert told == [
            b'{"version":2,"entity_path":"topics/configured"}',
            b'{"version":2,"entity_path":"brokers/<default>"}',
        ]

    def test_what_another_broker_writes_counts(self, broker: LoneBroker) -> None:
        alter(broker, OF_TOPIC, "orders", retention_ms="1")
        write(broker, *changed("topics/orders", {"retention.ms": "2"}))
        assert partition_of(broker, "orders").config.log.retention_ms == 2

    def test_what_makes_no_sense_is_passed_over(
        self, broker: LoneBroker, journal: MemoryJournal
    ) -> None:
        alter(broker, OF_BROKER, OWN, message_max_bytes="5000")
        nonsense = {"message.max.bytes": "x", "log.dirs": "/elsewhere"}
        write(broker, *changed(f"brokers/{OWN}", nonsense))
        assert describe(broker, OF_BROKER, OWN)["message.max.bytes"].value == "1048588"
        ignored = [each.subject for each in journal.of("broker-config-ignored")]
        assert ignored == ["log.dirs", "message.max.bytes"]

    def test_a_notification_that_makes_no_sense_holds_up_no_other(
        self, broker: LoneBroker, journal: MemoryJournal
    ) -> None:
        odd = [
            Create(ConfigChange.path(), data, sequential=True)
            for data in (b"[", b'{"version":2}', b'{"version":2,"entity_path":"users/a"}')
        ]
        old = b'{"version":1,"entity_type":"topics","entity_name":"orders"}'
        path = EntityConfig.path("topics/orders")
        write(
            broker,
            *odd,
            SetData(path, EntityConfig({"retention.ms": "3"}).encode()),
            Create(ConfigChange.path(), old, sequential=True),
        )
        assert len(journal.of("config-ignored")) == 2
        assert partition_of(broker, "orders").config.log.retention_ms == 3

    def test_notifications_go_when_they_are_old(self, broker: LoneBroker) -> None:
        alter(broker, OF_TOPIC, "orders", retention_ms="1")
        broker.scheduler.advance(16 * 60 * 1000)
        alter(broker, OF_TOPIC, "orders", retention_ms="2")
        left = broker.zookeeper.model.children("/config/changes")
        assert left == ("config_change_0000000001",)

    def test_a_broker_starts_with_what_was_set_before(self, stopped_broker: LoneBroker) -> None:
        of_all = EntityConfig({"message.max.bytes": "5000", "log.cleaner.threads": "x"})
        own = EntityConfig({"log.retention.ms": "77"})
        write(
            stopped_broker,
            *create_parents(),
            Create("/config/brokers/<default>", of_all.encode()),
            Create(f"/config/brokers/{OWN}", own.encode()),
        )
        stopped_broker.start()
        stopped_broker.create_topic("orders")
        config = partition_of(stopped_broker, "orders").config.log
        assert (config.max_message_bytes, config.retention_ms) == (5000, 77)
        stopped_broker.broker.close()

    def test_of_two_changes_at_a_time_neither_is_lost(self, broker: LoneBroker) -> None:
        asked = [
            IncrementalAlterConfigsRequest(resources=[altered(OF_TOPIC, "orders", **{key: "9"})])
            for key in ("retention_ms", "segment_ms")
        ]
        answers: list[Any] = []
        for request in asked:
            broker.serve(request, 1, answers.append)
        broker.settle()
        assert [answer.responses[0].error_code for answer in answers] == [0, 0]
        config = partition_of(broker, "orders").config.log
        assert (config.retention_ms, config.segment_ms) == (9, 9)


class TestEffects:
    def test_a_topics_partitions_obey_at_once(self, broker: LoneBroker) -> None:
        alter(broker, OF_TOPIC, "orders", min_insync_replicas="2", cleanup_policy="compact")
        partition = partition_of(broker, "orders")
        assert partition.config.min_insync_replicas == 2
        assert partition.replica.log.config.compacted
        alter(broker, OF_TOPIC, "orders", min_insync_replicas=None)
        assert partition.config.min_insync_replicas == 1

    def test_topics_that_say_nothing_obey_the_broker(self, broker: LoneBroker) -> None:
        alter(broker, OF_TOPIC, "orders", segment_bytes="2000")
        alter(broker, OF_BROKER, ALL_BROKERS, log_segment_bytes="3000", log_retention_ms="77")
        broker.create_topic(TOPIC)
        found = {
            topic: (config.segment_bytes, config.retention_ms)
            for topic in ("orders", TOPIC)
            for config in [partition_of(broker, topic).replica.log.config]
        }
        assert found == {"orders": (2000, 77), TOPIC: (3000, 77)}

    def test_its_own_goes_before_the_default(self, broker: LoneBroker) -> None:
        partition = partition_of(broker, "orders")
        alter(broker, OF_BROKER, ALL_BROKERS, message_max_bytes="5000")
        alter(broker, OF_BROKER, OWN, message_max_bytes="6000")
        assert partition.config.log.max_message_bytes == 6000
        alter(broker, OF_BROKER, OWN, message_max_bytes=None)
        assert partition.config.log.max_message_bytes == 5000

    def test_the_journal_tells_of_it_without_secrets(
        self, broker: LoneBroker, journal: MemoryJournal
    ) -> None:
        alter(broker, OF_BROKER, OWN, log_cleaner_threads="2", another_key_of_nobody="hidden")
        (event,) = journal.of("broker-config-changed")
        assert event.why == "another.key.of.nobody, log.cleaner.threads"
        assert event.after == {"log.cleaner.threads": "2"}
