"""The network core, command by command: what it wants done, and what it tells."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from logquake.client.driving.aside import in_place
from logquake.client.errors import AuthenticationFailedError, ClientError
from logquake.client.network.effects import Close, Connect, Effect, LogIn, Node, Resolve, Write
from logquake.client.network.link import Answer, ClientRequest
from logquake.client.network.links import Links
from logquake.client.network.network_client import NetworkClient
from logquake.client.network.settings import NetworkSettings
from logquake.wire.api import ApiKey, api_name, api_named, request_type, response_type
from logquake.wire.header import RequestHeader, decode_request_header, encode_response
from logquake.wire.messages.api_versions import ApiVersion, ApiVersionsResponse
from logquake.wire.sasl.authenticator import LoggedIn
from logquake.wire.schema import Message
from tests.doubles.even_random import EvenRandom
from tests.golden.player import Chronicle, Player, check_script, scripts_beside
from tests.parts import bytes_of, joined

HOSTS = {1: "one", 2: "two", 3: "three"}
SERVED = {
    ApiKey.PRODUCE: (0, 11),
    ApiKey.FETCH: (0, 12),
    ApiKey.METADATA: (0, 12),
    ApiKey.API_VERSIONS: (0, 3),
}


class Roster:
    def __init__(self) -> None:
        self.hosts = dict(HOSTS)

    def nodes(self) -> list[Node]:
        return [Node(node_id, host, 9092) for node_id, host in self.hosts.items()]

    def node(self, node_id: int) -> Node | None:
        return next((node for node in self.nodes() if node.id == node_id), None)


class PasswordLogin:
    """One word, and the broker's: ``what?``, ``no``, or for how many milliseconds we are in."""

    def start(self, spoken: Mapping[int, tuple[int, int]]) -> bytes:
        if ApiKey.PRODUCE not in spoken:
            raise AuthenticationFailedError("there is no word for this broker")
        return b"\0\0\0\4word"

    def receive(self, frame: bytes) -> bytes | LoggedIn:
        if frame == b"no":
            raise AuthenticationFailedError("the broker does not know the word")
        return b"\0\0\0\5again" if frame == b"what?" else LoggedIn(int(frame))


class NetworkPlayer(Player):
    """Brokers are named by their ids, and links by the order in which they were begun."""

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._roster = Roster()
        self._now_ms = 0
        self._begin(NetworkSettings(), with_login=False)

    def _begin(self, settings: NetworkSettings, *, with_login: bool) -> None:
        random = EvenRandom()
        self._links = Links(
            settings,
            random,
            new_login=PasswordLogin if with_login else None,
            on_ended=lambda: self._chronicle.log("a connection ended"),
        )
        self._network = NetworkClient(settings, self._links, self._roster, random)
        self._asked: dict[int, list[RequestHeader]] = {}

    def outcome(self) -> list[str]:
        while effects := self._links.take_effects():
            for effect in effects:
                self._perform(effect)
        return self._chronicle.take_log()

    # What a client does

    def do_client(self, login: str = "no", knows: str = "", **settings: str) -> None:
        """``knows`` is a request that it takes brokers to speak, up to version 1."""
        values: dict[str, Any] = {name: int(value) for name, value in settings.items()}
        known = {int(api_named(knows)): (0, 1)} if knows else None
        self._begin(NetworkSettings(**values, known_versions=known), with_login=login == "yes")

    def do_ready(self, node: str) -> None:
        ready = self._network.ready(int(node), self._now_ms)
        failure = self._network.failure(int(node))
        self._chronicle.log("ready" if ready else f"not ready{_because(failure)}")

    def do_ask(
        self,
        node: str,
        name: str,
        what: str,
        timeout: str = "",
        answered: str = "yes",
        **fields: str,
    ) -> None:
        """``name`` is what the answer is told as."""
        key = api_named(what)
        request, response = request_type(key), response_type(key)
        assert request is not None
        asked = ClientRequest(
            request(**fields),
            self._network.version_of(int(node), request),
            response if answered == "yes" else None,
            lambda answer: self._tell(name, answer),
            int(timeout) if timeout else None,
        )
        self._network.send(int(node), asked, self._now_ms)

    def do_version(self, node: str, what: str, at_most: str = "") -> None:
        request = request_type(api_named(what))
        assert request is not None
        try:
            version = self._network.version_of(
                int(node), request, int(at_most) if at_most else None
            )
        except ClientError as error:
            self._chronicle.log(str(error))
        else:
            self._chronicle.log(f"{what} {version}")

    def do_whom(self) -> None:
        node = self._network.least_loaded(self._now_ms)
        self._chronicle.log("nobody" if node is None else f"broker {node.id}")

    def do_moves(self, node: str, host: str) -> None:
        self._roster.hosts[int(node)] = host

    # What happens

    def do_wait(self, duration_ms: str) -> None:
        self._now_ms += int(duration_ms)
        self._links.poll(self._now_ms)

    def do_due(self) -> None:
        due_ms = self._links.next_due_ms(self._now_ms)
        self._chronicle.log("never" if due_ms is None else f"in {due_ms - self._now_ms} ms")

    def do_resolved(self, link: str, *addresses: str) -> None:
        self._links.resolved(int(link), addresses, self._now_ms)

    def do_connected(self, link: str) -> None:
        self._links.connected(int(link), self._now_ms)

    def do_lost(self, link: str, why: str) -> None:
        self._links.lost(int(link), why, self._now_ms)

    def do_written(self, link: str) -> None:
        self._links.written(int(link))

    def do_ends(self, link: str) -> None:
        self._links.received(int(link), 0, self._now_ms)

    def do_serves(self, link: str, throttle: str = "0", **ranges: str) -> None:
        """It answers ApiVersions."""
        served = {
            api_named(name): tuple(map(int, between.split("-"))) for name, between in ranges.items()
        }
        keys = [
            ApiVersion(api_key=key, min_version=first, max_version=last)
            for key, (first, last) in (served or SERVED).items()
        ]
        self._links.written(int(link))
        answer = ApiVersionsResponse(api_keys=keys, throttle_time_ms=int(throttle))
        self._answer(int(link), answer)

    def do_refuses_versions(self, link: str, highest: str = "", spoken: str = "00000000") -> None:
        """In version 0, whatever was asked; since 2.4 it says what it speaks."""
        said = struct.pack(">ihhh", 1, 18, 0, int(highest)) if highest else bytes.fromhex(spoken)
        body = struct.pack(">ih", self._asked[int(link)].pop(0).correlation_id, 35) + said
        self._links.written(int(link))
        self._receive(int(link), struct.pack(">i", len(body)) + body)

    def do_answers(self, link: str, throttle: str = "0", correlation: str = "") -> None:
        """The oldest request on the link."""
        key = self._asked[int(link)][0].api_key
        response = response_type(key)
        assert response is not None
        answer = response()
        if "throttle_time_ms" in response.__schema__.fields:
            answer.throttle_time_ms = int(throttle)  # type: ignore[attr-defined]
        self._answer(int(link), answer, int(correlation) if correlation else None)

    def do_says(self, link: str, text: str) -> None:
        self._receive(int(link), struct.pack(">i", len(text)) + text.encode())

    def do_bytes(self, link: str, text: str) -> None:
        self._receive(int(link), bytes.fromhex(text))

    def _answer(self, link: int, answer: Message, correlation_id: int | None = None) -> None:
        header = self._asked[link].pop(0)
        correlation_id = header.correlation_id if correlation_id is None else correlation_id
        self._receive(link, joined(encode_response(correlation_id, answer, header.api_version)))

    def _receive(self, link: int, content: bytes) -> None:
        """In two pieces."""
        for piece in (content[:5], content[5:]):
            room = self._links.room(link)
            if piece and room:
                room[: len(piece)] = piece
                self._links.received(link, len(piece), self._now_ms)

    def _tell(self, name: str, answer: Answer) -> None:
        what = f"{type(answer).__name__}{f': {answer}' if isinstance(answer, Exception) else ''}"
        self._chronicle.log(f"{name} is told {what}")

    def _perform(self, effect: Effect) -> None:
        if isinstance(effect, LogIn):
            in_place(
                effect.first_frame,
                lambda told: self._links.login_began(effect.link, told, self._now_ms),
            )
        else:
            self._chronicle.log(self._shown(effect))

    def _shown(self, effect: Resolve | Connect | Write | Close) -> str:
        if isinstance(effect, Resolve):
            return f"link {effect.link}: look up {effect.host}"
        if isinstance(effect, Connect):
            return f"link {effect.link}: connect to {effect.address}:{effect.port} ({effect.host})"
        if isinstance(effect, Close):
            return f"link {effect.link}: close"
        return f"link {effect.link}: write {self._shown_frame(effect)}"

    def _shown_frame(self, effect: Write) -> str:
        frame = b"".join(map(bytes_of, effect.parts))[4:]
        if len(frame) < 8:
            return repr(frame.decode())
        header, _ = decode_request_header(frame)
        self._asked.setdefault(effect.link, []).append(header)
        return f"{api_name(ApiKey(header.api_key))} {header.api_version} as {header.correlation_id}"


def _because(failure: ClientError | None) -> str:
    return "" if failure is None else f": {type(failure).__name__}: {failure}"


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda script: script.stem)
def test_script(script: Path) -> None:
    check_script(script, NetworkPlayer())
