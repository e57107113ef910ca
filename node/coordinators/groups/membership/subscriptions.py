"""Which topics the members of a generation consume, for who expires or deletes its offsets."""

from __future__ import annotations

from functools import cached_property

from logquake.wire.errors import ProtocolError
from logquake.wire.messages.consumer_protocol import ConsumerProtocolSubscription
from logquake.wire.schema import decode
from logquake.wire.versioned import version_of

_VERSION_BYTES = 2


class Subscriptions:
    """What members said in the protocol of type "consumer", read when somebody asks.

    ``said`` is None where no protocol is chosen.
    """

    def __init__(self, said: tuple[bytes, ...] | None) -> None:
        self._said = said

    @cached_property
    def topics(self) -> frozenset[str] | None:
        """None if that cannot be known, for one of them said what cannot be read."""
        if self._said is None:
            return None
        try:
            return frozenset(topic for said in self._said for topic in _topics_of(said))
        except ProtocolError:
            return None


def _topics_of(said: bytes) -> list[str]:
    """Version 0 begins all others, those of the future included (computeSubscribedTopics)."""
    version_of(said)
    return decode(ConsumerProtocolSubscription, 0, said, _VERSION_BYTES).topics
