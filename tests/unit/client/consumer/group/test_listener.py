"""A program's own listener."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.client import OffsetAndMetadata, RebalanceListener, TopicPartition

PLACES = (TopicPartition("t", 0), TopicPartition("t", 1))


class OnlyRevoked(RebalanceListener):
    def __init__(self) -> None:
        self.revoked: list[Sequence[TopicPartition]] = []

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        self.revoked.append(places)


def test_a_listener_has_only_what_it_needs_and_what_is_lost_is_revoked() -> None:
    listener = OnlyRevoked()
    assert listener.on_assigned(PLACES) is None
    listener.on_lost(PLACES)
    assert listener.revoked == [PLACES]


def test_an_offset_to_commit_needs_no_more_than_itself() -> None:
    assert OffsetAndMetadata(7) == (7, -1, "")
