"""One request as it arrived: what a connection hands to the broker, and the way back.

The body of a Produce request points into the connection's receive buffer: its records are valid
until the handler's end_of_pass returns. Whoever needs them for longer copies them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from logquake.node.quotas.usage import Usage
from logquake.wire.header import RequestHeader
from logquake.wire.listeners import ListenerName
from logquake.wire.principals import ANONYMOUS, KafkaPrincipal
from logquake.wire.schema import Message


@dataclass(slots=True)
class Request:
    """A decoded request.

    ``listener`` is the one that it came in by: an answer that names brokers names their addresses
    there. ``received_ms`` is the loop's monotonic time at which its last byte was read. ``reply``
    is called exactly once, on the loop, now or later; None means that the client gets no response
    (Produce with acks=0) and lets the connection's next request proceed. ``close`` is called
    instead of reply where only the end of the connection can tell the client (a failed Produce
    with acks=0); it takes the reason, for the journal.

    ``next_may_follow`` is for the handler to set before it returns: the connection's next request
    of the same API need not wait for this one's reply. The replies keep their order all the same.
    ``principal`` is who its connection was authenticated as, or, of a forwarded request, who the
    forwarding broker says asked. ``size`` is in bytes. ``usage`` is there where its client's quotas
    count; then after the answer the connection is to rest for so many ms (``throttle``).
    """

    header: RequestHeader
    body: Message
    received_ms: int
    client_host: str
    listener: ListenerName
    reply: Callable[[Message | None], None]
    close: Callable[[str], None]
    next_may_follow: bool = False
    principal: KafkaPrincipal = ANONYMOUS
    size: int = 0
    throttle: Callable[[int], None] = lambda _ms: None
    usage: Usage | None = None
