"""The listener and callbacks of a program in a group; in `aio` clients they may be coroutines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol, TypeAlias

from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import ClientError
from logquake.wire.topic_partition import TopicPartition

Offsets: TypeAlias = Mapping[TopicPartition, OffsetAndMetadata]


class RebalanceListener(Protocol):
    """Kafka's ConsumerRebalanceListener: called in the program's own poll(), unsubscribe() and
    close(), in the order of the partitions, and with none where an eager group gives none back.

    A program's listener may inherit from it, and have only what it needs.
    """

    def on_assigned(self, _places: Sequence[TopicPartition], /) -> object:
        """They were added to what is read; before the first record of them. It may seek."""
        return None

    def on_revoked(self, _places: Sequence[TopicPartition], /) -> object:
        """They go to others. It may still commit."""
        return None

    def on_lost(self, places: Sequence[TopicPartition], /) -> object:
        """Others may have them already: it is too late to commit. By default as `on_revoked`."""
        return self.on_revoked(places)


class NoListener(RebalanceListener):
    """Of a program that wants to hear nothing."""


CommitCallback: TypeAlias = Callable[[Offsets, ClientError | None], object]
"""What was to be committed, and why it was not (Kafka's OffsetCommitCallback)."""


def unheard(_offsets: Offsets, _error: ClientError | None) -> None:
    """Of a commit that nobody wants to hear of."""
