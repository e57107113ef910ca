"""The shape of every request handler."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, Generic, TypeVar

from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.schema import Message

B = TypeVar("B", bound=Message)


class Handler(ABC, Generic[B]):
    """Serves one API key in a range of versions.

    handle() is called on the loop, once per request and in the order of a connection; it must
    see to it that request.reply is called exactly once, now or later.
    """

    key: ClassVar[ApiKey]
    versions: ClassVar[range]

    @abstractmethod
    def handle(self, request: Request, body: B) -> None: ...
