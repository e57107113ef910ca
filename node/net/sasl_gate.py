"""Where a connection of a SASL listener stands: unknown, admitted, or admitted once more.

What Kafka's KafkaChannel and Processor do around a SaslServerAuthenticator. After the first
admission a handshake begins another one, if the session has an end and the last one was begun at
least a second ago (KIP-368); a request that comes after the session's end ends the connection.
"""

from __future__ import annotations

from collections.abc import Callable

from logquake.node.authentication.sasl_server import SaslServerAuthenticator
from logquake.node.authentication.sasl_steps import Admission, Refusal, Step
from logquake.wire.api import ApiKey
from logquake.wire.errors import ProtocolError

_MIN_REAUTHENTICATION_INTERVAL_MS = 1_000

NewAuthenticator = Callable[[Admission | None], SaslServerAuthenticator]
"""For a connection that was admitted so before, or never."""


class SaslGate:
    def __init__(self, new_authenticator: NewAuthenticator, now_ms: Callable[[], int]) -> None:
        self._new_authenticator = new_authenticator
        self._now_ms = now_ms
        self._authenticator: SaslServerAuthenticator | None = new_authenticator(None)
        self._admission: Admission | None = None
        self._last_begun_ms: int | None = None
        self.begun_ms: int | None = None  # when the first frame was there
        self.has_refused = False

    @property
    def has_admitted(self) -> bool:
        return self._admission is not None

    def claims(self, frame: memoryview) -> bool:
        """Whether the frame is for receive(), and no request to serve.

        Raises ProtocolError where the session is over.
        """
        if self._authenticator is not None:
            if self.begun_ms is None:
                self.begun_ms = self._now_ms()
            return True
        admission = self._admission
        if admission is None or admission.session_expires_ms is None:
            return False
        now_ms = self._now_ms()
        if _is_handshake(frame) and self._may_begin(now_ms):
            self._last_begun_ms = now_ms
            self._authenticator = self._new_authenticator(admission)
            return True
        if now_ms > admission.session_expires_ms:
            raise ProtocolError("its session is over, and it has not authenticated anew")
        return False

    def receive(self, frame: memoryview) -> Step:
        """Raises ProtocolError."""
        if self._authenticator is None:
            raise RuntimeError("nothing is being authenticated")
        step = self._authenticator.receive(bytes(frame))
        if isinstance(step, Admission):
            self._authenticator = None
            self._admission = step
        self.has_refused = isinstance(step, Refusal)
        return step

    def _may_begin(self, now_ms: int) -> bool:
        last_ms = self._last_begun_ms
        return last_ms is None or now_ms - last_ms >= _MIN_REAUTHENTICATION_INTERVAL_MS


def _is_handshake(frame: memoryview) -> bool:
    return int.from_bytes(frame[:2]) == ApiKey.SASL_HANDSHAKE
