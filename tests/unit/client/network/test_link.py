"""What a connection knows of those who want to send on it."""

from __future__ import annotations

from logquake.client.network.effects import Node
from logquake.client.network.frames import Frames
from logquake.client.network.link import Link, Serving


def test_who_wanted_to_send_before_all_had_left_can_go_on_then() -> None:
    link = Link(1, Node(0, "host", 9092), Frames(), 0, 0, stage=Serving({}))
    link.has_unsent = True
    assert not link.may_send(0, max_in_flight=5)
    assert link.has_left()
    assert link.may_send(0, max_in_flight=5)
    link.has_unsent = True
    assert not link.has_left()  # nobody had asked since
