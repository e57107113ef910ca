"""A TCP relay that can be shut: what was connected breaks, and nothing new gets through.

It can also be slow: answers take ``answer_delay_s``, or are held back for a while, and all that was
said arrives in the end.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def relay_to(target_port: int, *, answer_delay_s: float = 0.0) -> Iterator[Relay]:
    """From a free port on the loopback to ``target_port`` there."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        relay = Relay(listener, target_port, answer_delay_s)
        acceptor = threading.Thread(target=relay.accept, daemon=True)
        acceptor.start()
        try:
            yield relay
        finally:
            relay.shut()
            relay.release_answers()
            listener.shutdown(socket.SHUT_RDWR)
            acceptor.join()


class Relay:
    def __init__(self, listener: socket.socket, target_port: int, answer_delay_s: float) -> None:
        self._target = ("127.0.0.1", target_port)
        self._listener = listener
        self.port: int = listener.getsockname()[1]
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._open = True
        self._answer_delay_s = answer_delay_s
        self._answers_flow = threading.Event()
        self._answers_flow.set()

    def accept(self) -> None:
        """Connect who comes, until the listener is shut."""
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._connect(client)

    @property
    def is_used(self) -> bool:
        """Whether anybody is connected through it."""
        with self._lock:
            return bool(self._connections)

    def open(self) -> None:
        self._open = True

    def shut(self) -> None:
        with self._lock:
            self._open = False
            for connection in self._connections:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)

    def hold_answers(self) -> None:
        """Let what the client says through, and nothing back."""
        self._answers_flow.clear()

    def release_answers(self) -> None:
        self._answers_flow.set()

    def _connect(self, client: socket.socket) -> None:
        with self._lock:
            if not self._open:
                client.close()
                return
            server = socket.create_connection(self._target)
            self._connections |= {client, server}
        for end in (client, server):
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for way in ((client, server, lambda: None), (server, client, self._hold_back)):
            threading.Thread(target=self._copy, args=way, daemon=True).start()

    def _hold_back(self) -> None:
        time.sleep(self._answer_delay_s)
        self._answers_flow.wait()

    def _copy(
        self, source: socket.socket, target: socket.socket, hold_back: Callable[[], None]
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                hold_back()
                target.sendall(data)
        for end in (source, target):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._connections.discard(source)
        source.close()
