"""What is said on a connection, and in what order.

First a login, where brokers want one, then ApiVersions, then requests. They are answered in the
order they were sent.

Absent: authentication once more when a session ends (KIP-368).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.client.network import versions
from logquake.client.network.effects import Effect, Write
from logquake.client.network.link import (
    AskingVersions,
    ClientRequest,
    InFlight,
    Link,
    LoggingIn,
    Login,
    Serving,
)
from logquake.client.network.node_states import NodeStates
from logquake.client.network.pending_answers import PendingAnswers
from logquake.client.network.settings import NetworkSettings
from logquake.client.network.throttling import throttle_ms
from logquake.wire.errors import ProtocolError
from logquake.wire.header import RequestHeader, decode_response, encode_request
from logquake.wire.schema import Message


class Dialogue:
    """Of all links alike. What it wants written it adds to ``effects``."""

    def __init__(
        self,
        settings: NetworkSettings,
        states: NodeStates,
        effects: list[Effect],
        answers: PendingAnswers,
        new_login: Callable[[], Login] | None,
    ) -> None:
        self._settings = settings
        self._states = states
        self._effects = effects
        self._answers = answers
        self._new_login = new_login

    def begin(self, link: Link, now_ms: int) -> None:
        """Bytes may pass from now on."""
        if self._new_login is None:
            self._let_in(link, now_ms)
            return
        login = self._new_login()
        link.stage = LoggingIn(login)
        self._effects.append(Write(link.id, [login.start()]))

    def send(self, link: Link, request: ClientRequest, now_ms: int) -> None:
        wait_ms = request.timeout_ms
        if wait_ms is None:
            wait_ms = self._settings.request_timeout_ms
        correlation_id = self._write(link, request.message, request.version)
        link.in_flight.append(InFlight(correlation_id, request, now_ms + wait_ms))

    def on_frame(self, link: Link, frame: memoryview, now_ms: int) -> None:
        """Raises ProtocolError; AuthenticationFailedError or BrokerError of who lets us not in."""
        stage = link.stage
        if isinstance(stage, LoggingIn):
            self._on_login_frame(link, stage.login, frame, now_ms)
        elif isinstance(stage, AskingVersions):
            self._on_versions(link, stage, frame, now_ms)
        else:
            self._on_answer(link, frame, now_ms)

    def _on_login_frame(self, link: Link, login: Login, frame: memoryview, now_ms: int) -> None:
        step = login.receive(bytes(frame))
        if step is None:
            self._let_in(link, now_ms)
        else:
            self._effects.append(Write(link.id, [step]))

    def _on_versions(
        self, link: Link, asked: AskingVersions, frame: memoryview, now_ms: int
    ) -> None:
        answer = versions.answer(asked, frame, str(link.node))
        if isinstance(answer, int):
            self._ask_versions(link, answer, now_ms)
        else:
            self._serve(link, answer)

    def _let_in(self, link: Link, now_ms: int) -> None:
        """Clients from before ApiVersions know what they speak, and do not ask (KIP-35)."""
        self._states.stood(link.node.id)
        if self._settings.known_versions is None:
            self._ask_versions(link, versions.NEWEST, now_ms)
        else:
            self._serve(link, self._settings.known_versions)

    def _serve(self, link: Link, versions_of_broker: Mapping[int, tuple[int, int]]) -> None:
        link.stage = Serving(versions_of_broker)
        self._states.serves(link.node.id)

    def _ask_versions(self, link: Link, version: int, now_ms: int) -> None:
        link.setup_deadline_ms = now_ms + self._settings.request_timeout_ms
        correlation_id = self._write(link, versions.question(), version)
        link.stage = AskingVersions(version, correlation_id)

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
        """The correlation id that it got."""
        key = message.__schema__.key
        if key is None:
            raise TypeError(f"{type(message).__name__} is no request")
        correlation_id = link.next_correlation_id()
        header = RequestHeader(key, version, correlation_id, self._settings.client_id)
        self._effects.append(Write(link.id, encode_request(header, message)))
        link.has_unsent = True
        return correlation_id
