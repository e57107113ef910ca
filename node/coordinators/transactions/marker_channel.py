"""Markers on their way to one broker: one request in flight; what comes meanwhile goes together
in the next one.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.coordinators.transactions.marker_requests import (
    Decision,
    Markers,
    markers_request,
)
from logquake.node.coordinators.transactions.states import Partitions
from logquake.seams.network import Channel, Disconnected, Endpoint
from logquake.wire.schema import Message

_VERSION = 1  # MetadataVersion.writeTxnMarkersRequestVersion of 3.9


class MarkerChannel:
    """on_answer gets the markers of a request and its answer."""

    def __init__(
        self,
        endpoint: Endpoint,
        channel: Channel,
        on_answer: Callable[[Markers, Message | Disconnected], None],
    ) -> None:
        self.endpoint = endpoint
        self._channel = channel
        self._on_answer = on_answer
        self._waiting: Markers = {}
        self._is_busy = False

    def add(self, decision: Decision, partitions: Partitions) -> None:
        self._waiting[decision] = self._waiting.get(decision, frozenset()) | partitions
        self._send_next()

    def close(self) -> Markers:
        """What is in flight is answered with Disconnected; what waits is given back."""
        waiting, self._waiting = self._waiting, {}
        self._is_busy = True
        self._channel.close()
        return waiting

    def _send_next(self) -> None:
        if self._is_busy:
            return
        waiting, self._waiting = self._waiting, {}
        markers = {decision: to for decision, to in waiting.items() if decision.holds}
        if not markers:
            return
        self._is_busy = True

        def answered(answer: Message | Disconnected) -> None:
            self._is_busy = False
            self._on_answer(markers, answer)
            self._send_next()

        self._channel.send(markers_request(markers), _VERSION, answered)
