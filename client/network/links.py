"""The connections of a client, without I/O: from looking up a host to the responses.

A driver carries out what take_effects() returns, and reports events: ``resolved``, ``connected``,
``login_began``, ``received``, ``written``, ``lost``, ``turned_away``, and when it is time,
``poll``. Events of a link that is over are ignored. Each request's ``done`` is called once, at the
end of the driver's report, in the order of the responses; it may send.

An invalid response ends a connection, and so does a request's time-out: a late response could not
be told from that to the next request.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from logquake.client.errors import (
    AuthenticationFailedError,
    BrokerError,
    ClientError,
    ConnectionLostError,
    MalformedResponseError,
    RequestTimedOutError,
)
from logquake.client.network.dialogue import Dialogue
from logquake.client.network.effects import Close, Connect, Effect, Node, Resolve
from logquake.client.network.frames import Frames
from logquake.client.network.link import (
    ClientRequest,
    Connecting,
    Link,
    Login,
    Resolving,
    Serving,
)
from logquake.client.network.link_log import log_end, log_loss
from logquake.client.network.node_states import NodeStates
from logquake.client.network.pending_answers import PendingAnswers
from logquake.client.network.settings import NetworkSettings
from logquake.wire.errors import ProtocolError


class Links:
    """``new_login`` if brokers require authentication; ``on_ended`` is called for each end."""

    def __init__(
        self,
        settings: NetworkSettings,
        random: Random,
        *,
        new_login: Callable[[], Login] | None = None,
        on_ended: Callable[[], None] = lambda: None,
    ) -> None:
        self.states = NodeStates(settings, random)
        self._settings = settings
        self._on_ended = on_ended
        self._links: dict[int, Link] = {}  # least recently used first
        self._last_id = 0
        self._effects: list[Effect] = []
        self._answers = PendingAnswers()
        self._dialogue = Dialogue(
            settings, self.states, self._effects, self._answers, new_login, random
        )

    # What a client does

    def begin(self, node: Node, now_ms: int) -> None:
        """Connect to a node that has no link."""
        self._last_id += 1
        deadline_ms = now_ms + self.states.setup_timeout_ms(node.id)
        link = Link(self._last_id, node, Frames(), deadline_ms, now_ms)
        self._links[link.id] = link
        address = self.states.begin(link, now_ms).next()
        if address is None:
            self._effects.append(Resolve(link.id, node.host))
        else:
            self._dial(link, address)

    def send(self, link: Link, request: ClientRequest, now_ms: int) -> None:
        """On a link that serves, and admits another request. A message that cannot be expressed in
        its version fails with UnsupportedVersionError in the next poll.
        """
        self._used(link, now_ms)
        self._dialogue.send(link, request, now_ms)

    def end(self, link: Link, why: ClientError, now_ms: int) -> None:
        """Close it; requests in flight fail with ``why``."""
        self._end(link, why, now_ms)
        self._answers.tell()

    def end_all(self, why: ClientError, now_ms: int) -> None:
        for link in list(self._links.values()):
            log_end(link, why)
            self._give_up(link, why, now_ms)
        self._answers.tell()

    @property
    def count(self) -> int:
        """The number of connections, including those being made."""
        return len(self._links)

    @property
    def in_flight(self) -> int:
        """The number of requests in flight."""
        return sum(len(link.in_flight) for link in self._links.values())

    # What the driver does

    def take_effects(self) -> list[Effect]:
        effects = self._effects.copy()
        self._effects.clear()
        return effects

    def next_due_ms(self, now_ms: int) -> int | None:
        """When to poll next, if nothing is reported before; None for never."""
        if self._answers.any:
            return now_ms
        due_ms = self.states.next_retry_ms(now_ms)
        max_idle_ms = self._settings.connections_max_idle_ms
        for link in self._links.values():
            link_due_ms = link.due_ms(max_idle_ms)
            if now_ms < link.throttled_until_ms < link_due_ms:
                link_due_ms = link.throttled_until_ms
            if due_ms is None or link_due_ms < due_ms:
                due_ms = link_due_ms
        return due_ms

    # What the driver reports

    def resolved(self, link_id: int, addresses: Iterable[str], now_ms: int) -> None:
        link = self._links.get(link_id)
        if link is None or not isinstance(link.stage, Resolving):
            return
        known = self.states.addresses(link.node.id)
        known.resolved(addresses)
        address = known.next()
        if address is None:
            self.lost(link_id, f"{link.node.host} has no address", now_ms)
        else:
            self._dial(link, address)

    def connected(self, link_id: int, now_ms: int) -> None:
        link = self._links.get(link_id)
        if link is None or not isinstance(link.stage, Connecting):
            return
        self._used(link, now_ms)
        self._dialogue.begin(link, now_ms)

    def login_began(self, link_id: int, told: bytes | Exception, now_ms: int) -> None:
        """The login's first frame, or why there is none."""
        link = self._links.get(link_id)
        if link is None or not link.login_begins:
            return
        if isinstance(told, bytes):
            self._dialogue.login_began(link, told)
            return
        if not isinstance(told, AuthenticationFailedError):
            told = AuthenticationFailedError(f"{link.node}: no login can begin: {told!r}")
        self._end(link, told, now_ms)
        self._answers.tell()

    def room(self, link_id: int) -> memoryview:
        """Where to put received bytes; empty if the link is over."""
        link = self._links.get(link_id)
        return memoryview(b"") if link is None else link.frames.room()

    def received(self, link_id: int, count: int, now_ms: int) -> bool:
        """``count`` bytes were put into room(), 0 at the end of the stream. Returns whether that
        changed anything: a part of a long response does not.
        """
        link = self._links.get(link_id)
        comes_to_something = True
        if link is None:
            return comes_to_something
        if count:
            self._used(link, now_ms)
            link.frames.received(count)
            comes_to_something = self._take_frames(link, now_ms)
        else:
            why = ConnectionLostError(f"{link.node} closed the connection")
            self._end(link, why, now_ms)
        self._answers.tell()
        return comes_to_something

    def written(self, link_id: int) -> bool:
        """All bytes have left. Returns whether a sender can continue because of it."""
        link = self._links.get(link_id)
        if link is None:
            return False
        goes_on = link.has_left()
        if link.in_flight and link.in_flight[-1].request.response is None:
            last = link.in_flight.pop().request
            self._answers.add(last.done, last.message)
            self._answers.tell()
            goes_on = True
        return goes_on

    def lost(self, link_id: int, why: str, now_ms: int) -> None:
        """The connection could not be made, or broke."""
        link = self._links.get(link_id)
        if link is None:
            return
        is_made = not isinstance(link.stage, Resolving | Connecting)
        what = f"connection to {link.node} lost" if is_made else f"no connection to {link.node}"
        self._end(link, ConnectionLostError(f"{what}: {why}"), now_ms)
        self._answers.tell()

    def turned_away(self, link_id: int, why: str, now_ms: int) -> None:
        """TLS failed, on our side or the broker's (SslAuthenticationException)."""
        link = self._links.get(link_id)
        if link is None:
            return
        why = f"no connection to {link.node}: {why}"
        self._end(link, AuthenticationFailedError(why), now_ms)
        self._answers.tell()

    def poll(self, now_ms: int) -> None:
        """Time out connections and requests, and close the connection idle for longest."""
        max_idle_ms = self._settings.connections_max_idle_ms
        overdue = [link for link in self._links.values() if link.due_ms(max_idle_ms) <= now_ms]
        for link in overdue:
            if link.unanswered():
                self._end(link, RequestTimedOutError(f"no answer from {link.node} in time"), now_ms)
            elif not isinstance(link.stage, Serving):
                why = RequestTimedOutError(f"no connection to {link.node} in time")
                self._end(link, why, now_ms)
        self._end_most_idle(now_ms)
        self._answers.tell()

    # Within

    def _dial(self, link: Link, address: str) -> None:
        link.stage = Connecting()
        self._effects.append(Connect(link.id, address, link.node.port, link.node.host))

    def _take_frames(self, link: Link, now_ms: int) -> bool:
        """Returns whether there were any, or the link has ended."""
        count = 0
        try:
            while link.id in self._links:
                frame = self._dialogue.next_frame(link)
                if frame is None:
                    return count > 0
                count += 1
                self._dialogue.on_frame(link, frame, now_ms)
        except ProtocolError as error:
            self._end(link, MalformedResponseError(f"{link.node}: {error}"), now_ms)
        except AuthenticationFailedError as error:
            why = AuthenticationFailedError(f"{link.node}: {error}")
            why.__cause__ = error
            self._end(link, why, now_ms)
        except BrokerError as error:
            self._end(link, error, now_ms)
        return True

    def _end(self, link: Link, why: ClientError, now_ms: int) -> None:
        log_loss(link, why)
        self._give_up(link, why, now_ms)

    def _give_up(self, link: Link, why: ClientError, now_ms: int) -> None:
        del self._links[link.id]
        self.states.ended(link, why, now_ms)
        self._effects.append(Close(link.id))
        told = why
        for each in link.unanswered():
            self._answers.add(each.done, told)
            # An invalid response to the oldest request does not concern the others.
            told = why if why.retriable else ConnectionLostError(str(why))
        link.in_flight.clear()
        self._on_ended()

    def _end_most_idle(self, now_ms: int) -> None:
        """One per call, as in Kafka, so that many idle connections do not close at once."""
        bound_ms = now_ms - self._settings.connections_max_idle_ms
        for link in self._links.values():
            if isinstance(link.stage, Serving) and not link.in_flight:
                if link.used_at_ms <= bound_ms:
                    why = ConnectionLostError(f"{link.node} was idle")
                    log_end(link, why)
                    self._give_up(link, why, now_ms)
                return

    def _used(self, link: Link, now_ms: int) -> None:
        link.used_at_ms = now_ms
        self._links[link.id] = self._links.pop(link.id)
