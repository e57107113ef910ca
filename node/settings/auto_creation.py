"""The keys of topics that nobody described: what clients ask about, and what coordinators need.

Partitions and replicas of a coordinator's topic count once, when it is made. Its other settings
become the topic's own (GroupCoordinatorService.groupMetadataTopicConfigs,
TransactionStateManager.transactionTopicConfigs).
"""

from __future__ import annotations

from logquake.controller.settings import ControllerSettings
from logquake.node.metadata.topic_names import GROUP_METADATA_TOPIC, TRANSACTION_STATE_TOPIC
from logquake.node.settings.reader import SHORT_MAX, PropertyReader
from logquake.node.topics.auto_creation import AutoCreationSettings, TopicShape

_PARTITIONS = 50
_REPLICATION_FACTOR = 3
_SEGMENT_BYTES = 100 * 1024 * 1024


def read_auto_creation(
    reader: PropertyReader, controller: ControllerSettings
) -> AutoCreationSettings:
    """Raises SettingsError."""
    return AutoCreationSettings(
        enabled=reader.flag("auto.create.topics.enable", True),
        users=TopicShape(controller.num_partitions, controller.default_replication_factor),
        internal={
            GROUP_METADATA_TOPIC: _read_offsets_topic(reader),
            TRANSACTION_STATE_TOPIC: _read_transaction_log(reader),
        },
        max_wait_ms=reader.integer("logquake.auto.create.max.wait.ms", 1_000, minimum=0),
    )


def _read_offsets_topic(reader: PropertyReader) -> TopicShape:
    return _read_shape(
        reader,
        "offsets.topic",
        {"compression.type": "producer", "cleanup.policy": "compact"},
    )


def _read_transaction_log(reader: PropertyReader) -> TopicShape:
    min_isr = reader.integer("transaction.state.log.min.isr", 2, minimum=1)
    return _read_shape(
        reader,
        "transaction.state.log",
        {
            "unclean.leader.election.enable": "false",
            "compression.type": "uncompressed",
            "cleanup.policy": "compact",
            "min.insync.replicas": str(min_isr),
        },
    )


def _read_shape(reader: PropertyReader, prefix: str, config: dict[str, str]) -> TopicShape:
    segment_bytes = reader.integer(f"{prefix}.segment.bytes", _SEGMENT_BYTES, minimum=1)
    return TopicShape(
        partitions=reader.integer(f"{prefix}.num.partitions", _PARTITIONS, minimum=1),
        replication_factor=reader.integer(
            f"{prefix}.replication.factor", _REPLICATION_FACTOR, minimum=1, maximum=SHORT_MAX
        ),
        config=config | {"segment.bytes": str(segment_bytes)},
    )
