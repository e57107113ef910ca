"""Whoever ends a session by hand may have been told a wrong address."""

from __future__ import annotations

import socket
import threading

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.zookeeper import session_end
from logquake.cluster.zookeeper.session_end import end_session


def test_what_is_no_zookeeper_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """However much it sends."""
    monkeypatch.setattr(session_end, "ANSWER_TIMEOUT_S", 0.5)

    def answer(listener: socket.socket) -> None:
        with listener.accept()[0] as connection:
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 100)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        stranger = threading.Thread(target=answer, args=(listener,))
        stranger.start()
        with pytest.raises(ClusterError, match="no ZooKeeper server"):
            end_session(f"127.0.0.1:{listener.getsockname()[1]}", 7)
        stranger.join()
