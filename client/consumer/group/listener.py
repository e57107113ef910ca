"""The listener and callbacks of a program in a group; in `aio` clients they may be coroutines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition

Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]


class RebalanceListener(Protocol):
    """Kafka's ConsumerRebalanceListener: called within the program's poll(), unsubscribe() and
    close(), with sorted partitions, or with none if a member of an eager group has none to revoke.

    A program's listener may inherit from it, and override only what it needs.
    """

    def on_assigned(self, _places: Sequence[TopicPartition], /) -> object:
        """Called after they were added, before their first record. It may seek."""
        return None

    def on_revoked(self, _places: Sequence[TopicPartition], /) -> object:
        """Called before they move to other members. It may still commit."""
        return None

    def on_lost(self, places: Sequence[TopicPartition], /) -> object:
        """Other members may have them already: too late to commit. Default: `on_revoked`."""
        return self.on_revoked(places)


class NoListener(RebalanceListener):
    """For a program without a listener."""


CommitCallback: TypeAlias = Callable[[Offsets, ClientError | None], object]
"""Gets the offsets, and the error or None (Kafka's OffsetCommitCallback)."""


def unheard(_offsets: Offsets, _error: ClientError | None) -> None:
    """The callback of a commit without one."""
