"""Channels of the older APIs to the cluster in memory."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import pytest

from logquake.client.classic.channel import BlockingChannel, Dial
from logquake.client.settings import Address
from tests.unit.client.cluster_in_memory import FakeClock, FakeNetwork


@pytest.fixture
def dial(network: FakeNetwork, clock: FakeClock) -> Iterator[Dial]:
    with contextlib.ExitStack() as opened:

        def dial(address: Address, client_id: str, timeout_ms: int) -> BlockingChannel:
            channel = BlockingChannel(
                address,
                client_id,
                timeout_ms,
                clock=clock,
                new_sockets=lambda _clock, _waker: network.new_sockets(),
            )
            opened.callback(channel.disconnect)
            return channel

        yield dial
