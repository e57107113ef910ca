"""How long a broker's loop leaves a request unanswered: ApiVersions, again and again.

The longest wait is what the loop was busy with something else, and whatever the machine did
meanwhile: on a machine with other loads it says little.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

PAUSE_S = 0.005

_TIMEOUT_S = 60.0
_LENGTH = struct.Struct("!i")
_API_VERSIONS = struct.pack("!hhih", 18, 0, 1, -1)  # version 0, no client id


class Pinger:
    """``with Pinger(addresses) as pinger``: ``longest_ms`` is there after the block.

    A broker that cannot be reached is left out from then on.
    """

    def __init__(self, addresses: Sequence[tuple[str, int]]) -> None:
        self.longest_ms = 0.0
        self._ended = threading.Event()
        self._threads = [
            threading.Thread(target=self._ping, args=(address,), daemon=True)
            for address in addresses
        ]

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _ping(self, address: tuple[str, int]) -> None:
        with contextlib.suppress(OSError), socket.create_connection(address, _TIMEOUT_S) as sock:
            answers = sock.makefile("rb")
            while not self._ended.wait(PAUSE_S):
                started = time.perf_counter()
                sock.sendall(_LENGTH.pack(len(_API_VERSIONS)) + _API_VERSIONS)
                size = answers.read(_LENGTH.size)
                if not size or not answers.read(*_LENGTH.unpack(size)):
                    return
                self.longest_ms = max(self.longest_ms, (time.perf_counter() - started) * 1e3)
