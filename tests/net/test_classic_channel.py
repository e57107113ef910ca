"""A channel of the older clients on a real socket: another thread ends its wait."""

from __future__ import annotations

import socket
import threading

from logquake.client.classic.channel import BlockingChannel
from logquake.client.classic.topic_metadata import ask_for_topics
from logquake.client.errors import ClientError, ClosedError
from logquake.client.settings import Address
from tests.waiting import PATIENCE_S


def test_a_wait_is_ended_by_another_thread() -> None:
    raised: list[ClientError] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(PATIENCE_S)
        address = Address("127.0.0.1", server.getsockname()[1])
        channel = BlockingChannel(address, "", 2 * int(PATIENCE_S * 1000))

        def ask() -> None:
            try:
                ask_for_topics(channel, [])
            except ClientError as error:
                raised.append(error)

        asker = threading.Thread(target=ask)
        asker.start()
        connection, _ = server.accept()
        with connection:
            connection.settimeout(PATIENCE_S)
            assert connection.recv(4)
            channel.interrupt()
            asker.join(PATIENCE_S)
    channel.disconnect()
    assert not asker.is_alive()
    assert [type(each) for each in raised] == [ClosedError]
