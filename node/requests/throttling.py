"""Requests of clients that used more than they may: answered at once, then their connection rests.

The answer says for how long (``throttle_time_ms``), so that a client that knows of it waits by
itself; the connection takes no further request until then (KIP-219). What brokers ask of each
other is exempt (RequestHandlerHelper).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from logquake.controller.rules.mutations import MayMutate, any_mutations
from logquake.node.quotas.entities import Client
from logquake.node.quotas.quotas import Quotas
from logquake.node.quotas.usage import Usage
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.fetch import FetchRequest
from logquake.wire.schema import Message
from logquake.zk.znodes.configs import sanitize

EXEMPT: Final = frozenset(
    {
        ApiKey.LEADER_AND_ISR,
        ApiKey.STOP_REPLICA,
        ApiKey.UPDATE_METADATA,
        ApiKey.CONTROLLED_SHUTDOWN,
        ApiKey.WRITE_TXN_MARKERS,
        ApiKey.ALTER_PARTITION,
        ApiKey.ALLOCATE_PRODUCER_IDS,
        ApiKey.ENVELOPE,
    }
)


def handle_counted(
    quotas: Quotas, request: Request, handle: Callable[[Request, Any], None]
) -> None:
    """Handle the request; what it used counts, and its answer says how long to wait."""
    if _is_exempt(request):
        handle(request, request.body)
        return
    client = Client(sanitize(request.principal.name), sanitize(request.header.client_id or ""))
    usage = request.usage = quotas.usage(client)
    request.reply = _Counting(usage, request)
    handle(request, request.body)
    usage.handled()


def mutations_of(request: Request, strict_since: int) -> MayMutate:
    """What it may change of the cluster. Clients of older versions do not know the refusal."""
    if request.usage is None:
        return any_mutations
    return request.usage.mutations(is_strict=request.header.api_version >= strict_since)


def created_for(request: Request) -> Callable[[int], None]:
    """Told of the partitions of topics that are made because the request asked about them."""
    return _uncounted if request.usage is None else request.usage.created


def _uncounted(_partitions: int) -> None: ...


def _is_exempt(request: Request) -> bool:
    body = request.body
    if isinstance(body, FetchRequest):
        return max(body.replica_id, body.replica_state.replica_id) >= 0
    return request.header.api_key in EXEMPT


class _Counting:
    """A request's way back. It does not know the request, which knows it: no cycle."""

    __slots__ = ("_produced", "_reply", "_throttle", "_usage")

    def __init__(self, usage: Usage, request: Request) -> None:
        self._usage = usage
        self._reply = request.reply
        self._throttle = request.throttle
        self._produced = request.size if request.header.api_key == ApiKey.PRODUCE else None

    def __call__(self, message: Message | None) -> None:
        wait_ms = max(0, self._count(is_answered=message is not None))
        answer: Any = message
        if hasattr(answer, "throttle_time_ms"):
            # What the handler, or the controller that it asked, has said already counts too.
            wait_ms = answer.throttle_time_ms = max(wait_ms, answer.throttle_time_ms)
        if wait_ms:
            self._throttle(wait_ms)
        self._reply(message)

    def _count(self, *, is_answered: bool) -> int:
        usage = self._usage
        if self._produced is not None:
            return usage.produced(self._produced, is_answered=is_answered)
        return usage.answered() if usage.wait_ms is None else usage.wait_ms
