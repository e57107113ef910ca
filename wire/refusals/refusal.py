"""Why a request is refused as a whole, and the functions that say so in an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from logquake.wire.errors import ErrorCode
from logquake.wire.schema import Message


@dataclass(frozen=True, slots=True)
class Refusal:
    """``message`` is told where the answer has room for one."""

    error: ErrorCode
    message: str | None = None


#: What makes the answer of a request of its class, in a version; None where none is sent.
Refuse = Callable[[Any, int, Refusal], Message | None]
RefusalTable = Mapping[type[Message], Refuse]
