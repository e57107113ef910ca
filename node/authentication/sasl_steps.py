"""What a frame of a client that authenticates leads to."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.wire.principals import KafkaPrincipal


@dataclass(frozen=True, slots=True)
class Answer:
    """Send the frame, its length in front, and expect more."""

    frame: bytes


@dataclass(frozen=True, slots=True)
class Admission:
    """Send the frame; from here on the connection is the principal's.

    ``session_expires_ms`` is the monotonic time after which its requests are taken no longer,
    None for never.
    """

    frame: bytes
    principal: KafkaPrincipal
    mechanism: str
    session_expires_ms: int | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """After the delay for such clients send the frame, which may be empty, and close."""

    frame: bytes
    why: str


Step = Answer | Admission | Refusal
