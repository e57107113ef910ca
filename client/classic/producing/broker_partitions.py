"""Where the older producer learns the partitions' leaders (kafka.producer.BrokerPartitionInfo)."""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from typing import Protocol

from logquake.client.classic.topic_metadata import MetadataAsker, PartitionMetadata, TopicMetadata
from logquake.client.errors import NoLeaderError, check
from logquake.client.settings.addresses import Address
from logquake.wire.errors import ErrorCode

_log = logging.getLogger(__name__)


class BrokerPartitions(Protocol):
    def partitions_of(self, topic: str) -> Sequence[PartitionMetadata]:
        """All partitions, sorted; at least one. Raises ClientError."""

    def refresh(self, topics: Collection[str]) -> None:
        """What is known of these topics may be stale: update it. Raises ClientError."""

    def interrupt(self) -> None:
        """From any thread: waiting and later calls raise ClosedError."""

    def close(self) -> None: ...


class AskedPartitions:
    """From the metadata of any broker; cached until refresh()."""

    def __init__(self, asker: MetadataAsker, brokers: Sequence[Address]) -> None:
        self._asker = asker
        self._brokers = brokers
        self._known: dict[str, TopicMetadata] = {}

    def partitions_of(self, topic: str) -> Sequence[PartitionMetadata]:
        if topic not in self._known:
            self.refresh([topic])
        known = self._known.get(topic)
        if known is None or not known.partitions:
            raise NoLeaderError(f"there is no metadata of {topic} yet")
        return known.partitions

    def refresh(self, topics: Collection[str]) -> None:
        """Takes in the whole response before it raises an error of a topic not known so far."""
        told = self._asker.ask(self._brokers, topics)
        self._known |= {each.topic: each for each in told if each.error_code == ErrorCode.NONE}
        for each in told:
            if each.topic in self._known and each.error_code != ErrorCode.NONE:
                _log.warning("metadata of %s: error %d", each.topic, each.error_code)
            else:
                check(each.error_code, f"metadata of {each.topic}")

    def interrupt(self) -> None:
        self._asker.interrupt()

    def close(self) -> None: ...
