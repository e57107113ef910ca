"""How long a broker's loop leaves a request unanswered: ApiVersions, again and again.

The longest wait is what the loop was busy with something else, and whatever the machine did
meanwhile: on a machine with other loads it says little.
"""

from __future__ import annotations

import socket
import struct
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

PAUSE_S = 0.005

_TIMEOUT_S = 60.0
_LENGTH = struct.Struct("!i")
_API_VERSIONS = struct.pack("!hhih", 18, 0, 1, -1)  # version 0, no client id


@contextmanager
def pinging(addresses: Sequence[tuple[str, int]]) -> Iterator[Pinger]:
    """All the block long. A broker that cannot be reached is left out from then on."""
    pinger = Pinger()
    threads = [
        threading.Thread(target=pinger.ping, args=(address,), daemon=True) for address in addresses
    ]
    for thread in threads:
        thread.start()
    try:
        yield pinger
    finally:
        pinger.end()
        for thread in threads:
            thread.join()


class Pinger:
    """``longest_ms`` is there after the block."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._ended = threading.Event()

    def end(self) -> None:
        self._ended.set()

    def ping(self, address: tuple[str, int]) -> None:
        with suppress(OSError), socket.create_connection(address, _TIMEOUT_S) as sock:
            answers = sock.makefile("rb")
            while not self._ended.wait(PAUSE_S):
                started = time.perf_counter()
                sock.sendall(_LENGTH.pack(len(_API_VERSIONS)) + _API_VERSIONS)
                size = answers.read(_LENGTH.size)
                if not size or not answers.read(*_LENGTH.unpack(size)):
                    return
                self.longest_ms = max(self.longest_ms, (time.perf_counter() - started) * 1e3)
