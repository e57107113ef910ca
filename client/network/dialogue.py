"""What is sent on a connection, and in what order.

First ApiVersions, then a login if brokers require one, then requests. Responses come in the order
of the requests; a login that renews a session is one of these (KIP-368). In Kafka this is
SaslClientAuthenticator and KafkaChannel.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from random import Random

from logquake.client.errors import UnencodableError, UnsupportedVersionError
from logquake.client.network import versions
from logquake.client.network.effects import Effect, LogIn, Write
from logquake.client.network.link import (
    AskingVersions,
    ClientRequest,
    InFlight,
    Link,
    LoggingIn,
    LoggingInAnew,
    Login,
    Serving,
)
from logquake.client.network.node_states import NodeStates
from logquake.client.network.pending_answers import PendingAnswers
from logquake.client.network.settings import NetworkSettings
from logquake.client.network.throttling import throttle_ms
from logquake.wire.errors import ProtocolError
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.sasl.authenticator import LoggedIn
from logquake.wire.schema import Message, NotInVersionError

# The share of a session's lifetime after which to log in again: network delay and clock drift take
# some of it, and many connections should not log in at once.
_EARLIEST, _LATEST = 0.85, 0.95
# The limit for responses to ApiVersions and logins: the same as brokers have for a client's login
# (sasl.server.max.receive.size).
_MAX_GREETING_BYTES = 512 * 1024


class Dialogue:
    """Serves all links. What is to be written is added to ``effects``."""

    def __init__(
        self,
        settings: NetworkSettings,
        states: NodeStates,
        effects: list[Effect],
        answers: PendingAnswers,
        new_login: Callable[[], Login] | None,
        random: Random,
    ) -> None:
        self._settings = settings
        self._states = states
        self._effects = effects
        self._answers = answers
        self._new_login = new_login
        self._random = random

    def begin(self, link: Link, now_ms: int) -> None:
        """The connection is open: begin with the first request."""
        if self._new_login is None:
            self._stands(link, now_ms)
        if self._settings.known_versions is None:
            self._ask_versions(link, versions.NEWEST)
        else:  # as clients from before ApiVersions, which do not ask (KIP-35)
            self._let_in(link, self._settings.known_versions)

    def send(self, link: Link, request: ClientRequest, now_ms: int) -> None:
        deadline_ms = now_ms + self._timeout_ms(request)
        stage = link.stage
        if isinstance(stage, Serving) and self._is_session_over(stage, now_ms):
            self._log_in_anew(link, stage, request, deadline_ms)
        else:
            self._send(link, request, deadline_ms)

    def next_frame(self, link: Link) -> memoryview | None:
        """`Frames.next`, within the limit of the oldest request, since that is answered first."""
        if not link.in_flight:
            return link.frames.next(_MAX_GREETING_BYTES)
        own_bytes = link.in_flight[0].request.max_response_bytes
        bound = self._settings.max_response_bytes if own_bytes is None else own_bytes
        try:
            return link.frames.next(bound)
        except ProtocolError as error:
            raise ProtocolError(f"{error} (logquake.max.response.bytes)") from error

    def on_frame(self, link: Link, frame: memoryview, now_ms: int) -> None:
        """Raises ProtocolError, or AuthenticationFailedError or BrokerError if refused."""
        stage = link.stage
        if isinstance(stage, AskingVersions):
            self._on_versions(link, stage, frame, now_ms)
        elif link.login_begins and not link.in_flight:
            raise ProtocolError("an answer before the first question of a login")
        elif isinstance(stage, LoggingIn):
            self._on_login_frame(link, stage, frame, now_ms)
        elif isinstance(stage, LoggingInAnew) and not link.in_flight:
            self._on_login_anew_frame(link, stage, frame, now_ms)
        else:
            self._on_answer(link, frame, now_ms)

    # Versions

    def _ask_versions(self, link: Link, version: int) -> None:
        correlation_id = self._write(link, versions.question(), version)
        link.stage = AskingVersions(version, correlation_id)

    def _on_versions(
        self, link: Link, asked: AskingVersions, frame: memoryview, now_ms: int
    ) -> None:
        answer = versions.answer(asked, frame, str(link.node))
        if isinstance(answer, int):
            self._ask_versions(link, answer)
        else:
            link.throttle(answer.throttle_ms, now_ms)
            self._let_in(link, answer.ranges)

    def _let_in(self, link: Link, spoken: Mapping[int, tuple[int, int]]) -> None:
        if self._new_login is None:
            self._serve(link, Serving(spoken))
        else:
            login = self._new_login()
            link.stage = LoggingIn(login, spoken)
            self._begin_login(link, login, spoken)

    def _stands(self, link: Link, now_ms: int) -> None:
        self._states.stood(link.node.id)
        link.setup_deadline_ms = now_ms + self._settings.request_timeout_ms

    def _serve(self, link: Link, serving: Serving) -> None:
        link.stage = serving
        self._states.serves(link.node.id)

    # Logins

    def _begin_login(self, link: Link, login: Login, spoken: Mapping[int, tuple[int, int]]) -> None:
        link.login_begins = True
        self._effects.append(LogIn(link.id, partial(login.start, spoken)))

    def login_began(self, link: Link, frame: bytes) -> None:
        """Send the login's first frame."""
        link.login_begins = False
        self._effects.append(Write(link.id, [frame]))

    def _on_login_frame(self, link: Link, stage: LoggingIn, frame: memoryview, now_ms: int) -> None:
        step = stage.login.receive(bytes(frame))
        if isinstance(step, LoggedIn):
            self._stands(link, now_ms)
            self._serve(link, self._session(stage.versions, step, now_ms))
        else:
            self._effects.append(Write(link.id, [step]))

    def _session(
        self, spoken: Mapping[int, tuple[int, int]], session: LoggedIn, now_ms: int
    ) -> Serving:
        if session.session_lifetime_ms <= 0:
            return Serving(spoken)
        share = self._random.uniform(_EARLIEST, _LATEST)
        return Serving(spoken, now_ms + int(session.session_lifetime_ms * share))

    def _is_session_over(self, serving: Serving, now_ms: int) -> bool:
        return serving.login_due_ms is not None and serving.login_due_ms <= now_ms

    def _log_in_anew(
        self, link: Link, serving: Serving, held: ClientRequest, deadline_ms: int
    ) -> None:
        if self._new_login is None:
            raise RuntimeError("a session of nobody who logged in")
        login = self._new_login()
        link.stage = LoggingInAnew(login, serving, held)
        link.setup_deadline_ms = deadline_ms
        self._begin_login(link, login, serving.versions)

    def _on_login_anew_frame(
        self, link: Link, stage: LoggingInAnew, frame: memoryview, now_ms: int
    ) -> None:
        step = stage.login.receive(bytes(frame))
        if isinstance(step, LoggedIn):
            link.stage = self._session(stage.serving.versions, step, now_ms)
            self._send(link, stage.held, link.setup_deadline_ms)
        else:
            self._effects.append(Write(link.id, [step]))

    # Requests

    def _timeout_ms(self, request: ClientRequest) -> int:
        own_ms = request.timeout_ms
        return self._settings.request_timeout_ms if own_ms is None else own_ms

    def _send(self, link: Link, request: ClientRequest, deadline_ms: int) -> None:
        try:
            correlation_id = self._write(link, request.message, request.version)
        except NotInVersionError as error:
            self._answers.add(request.done, UnsupportedVersionError(f"{link.node}: {error}"))
            return
        except ValueError as error:  # it cannot be encoded, so nothing is sent
            self._answers.add(request.done, UnencodableError(str(error)))
            return
        link.in_flight.append(InFlight(correlation_id, request, deadline_ms))

    def _on_answer(self, link: Link, frame: memoryview, now_ms: int) -> None:
        oldest = link.in_flight[0] if link.in_flight else None
        if oldest is None or oldest.request.response is None:
            raise ProtocolError("a response to no request")
        request = oldest.request
        correlation_id, answer = decode_response(oldest.request.response, request.version, frame)
        if correlation_id != oldest.correlation_id:
            raise ProtocolError(
                f"response to request {correlation_id}, not {oldest.correlation_id}"
            )
        link.in_flight.popleft()
        pause_ms = throttle_ms(answer, request.version)
        if pause_ms:
            link.throttle(pause_ms, now_ms)
        self._answers.add(request.done, answer)

    def _write(self, link: Link, message: Message, version: int) -> int:
        """Returns the request's correlation id."""
        key = message.__schema__.key
        if key is None:
            raise TypeError(f"{type(message).__name__} is no request")
        correlation_id = link.next_correlation_id()
        header = RequestHeader(key, version, correlation_id, self._settings.client_id)
        self._effects.append(Write(link.id, encode_request(header, message)))
        link.has_unsent = True
        return correlation_id
