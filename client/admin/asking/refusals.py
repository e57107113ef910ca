"""What error codes in responses mean for a whole call, and for one of its items."""

from __future__ import annotations

from collections.abc import Collection

from logquake.client.errors import ClientError, broker_error
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message


def refusal(code: int, context: str, message: str | None = None) -> ClientError | None:
    """None for success; ``message`` is the broker's error message, if it sent one."""
    return None if code == ErrorCode.NONE else broker_error(code, message or context)


def by_controller(answer: Message) -> None:
    """Raises a retriable BrokerError if the responder is not the controller."""
    if ErrorCode.NOT_CONTROLLER in error_codes(answer):
        raise broker_error(ErrorCode.NOT_CONTROLLER, "another broker is the controller now")


def if_it_passes(code: int, context: str, passes: Collection[ErrorCode]) -> None:
    """Raises a retriable BrokerError for those codes only."""
    if ErrorCode.of_peer(code) in passes:
        raise broker_error(code, context)
