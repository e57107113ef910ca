"""What passes on one connection under rules, command by command."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.conversation import Conversation
from logquake.cluster.links.requests.effects import Effect, End, Forward
from logquake.cluster.links.requests.frames import FrameReader
from logquake.cluster.links.requests.rules import RequestFault, Rule, RuleBook
from logquake.cluster.links.requests.watching import Watches, Witness
from logquake.wire.api import ApiKey, api_name, api_named, request_type, response_type
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import (
    RequestHeader,
    decode_request_header,
    decode_response,
    encode_request,
    encode_response,
)
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.schema import Message
from tests.golden.player import Chronicle, Player, check_script, scripts_beside
from tests.parts import joined

CLIENT, BROKER = "clients", "broker-2"
VERSION = 3
WAYS = {"client": Way.REQUESTS, "broker": Way.RESPONSES}
RECEIVERS = {Way.REQUESTS: "broker", Way.RESPONSES: "client"}


class ConversationPlayer(Player):
    """Correlation ids are given by whoever writes the script."""

    def __init__(self) -> None:
        self._chronicle = Chronicle()
        self._book = RuleBook(self._on_hit)
        self._conversation = Conversation(
            CLIENT, BROKER, self._book, Witness(Watches(lambda: 0), CLIENT, BROKER)
        )
        self._now_ms = 0
        self._asked: dict[int, RequestHeader] = {}
        self._shown = {way: FrameReader() for way in Way}

    def outcome(self) -> list[str]:
        return self._chronicle.take_log()

    # Rules

    def do_rule(self, rule_id: str, kind: str, api: str, **options: str) -> None:
        """Options of the fault are told from those of the action by their names."""
        of_fault: dict[str, object] = {
            name: int(options.pop(name)) for name in ("skip", "times") if name in options
        }
        of_fault |= {
            f"{name}s": [options.pop(name)] for name in ("source", "target") if name in options
        }
        if "version" in options:
            version = int(options.pop("version"))
            of_fault["versions"] = (version, version)
        action = {
            name: int(value) if value.isdecimal() else value for name, value in options.items()
        }
        document = {"api": api, "action": {"kind": kind, **action}, **of_fault}
        self._book.begin(int(rule_id), RequestFault.from_json(document))

    def do_heal(self, rule_id: str) -> None:
        self._book.end(int(rule_id))
        self._show(self._conversation.review(self._now_ms))

    # What comes

    def do_ask(self, *asked: str, **options: str) -> None:
        """``ask Produce:1 Fetch:2``: in one piece, or byte by byte with bytewise=yes."""
        bytewise = options.pop("bytewise", "")
        data = b"".join(self._request(each, **options) for each in asked)
        self._receive(Way.REQUESTS, data, bytewise)

    def do_answer(self, *ids: str, bytewise: str = "", error: str = "NONE") -> None:
        """``error`` is of APIs whose answers have one for all."""
        data = b"".join(self._answer(int(each), ErrorCode[error]) for each in ids)
        self._receive(Way.RESPONSES, data, bytewise)

    def do_bytes(self, sender: str, *hexadecimal: str) -> None:
        self._receive(WAYS[sender], bytes.fromhex("".join(hexadecimal)))

    def do_end(self, sender: str) -> None:
        self._show(self._conversation.end(WAYS[sender], self._now_ms))

    def do_pass(self, ms: str) -> None:
        self._now_ms += int(ms)
        self._show(self._conversation.go_on(self._now_ms))

    def do_state(self) -> None:
        wake_ms = self._conversation.wake_ms()
        waits = "nothing in time" if wake_ms is None else f"{wake_ms - self._now_ms:g} ms"
        read = [name for name, way in WAYS.items() if self._conversation.may_read(way)]
        self._chronicle.log(f"waits for {waits}; reads {' and '.join(read) or 'nothing'}")

    # Behind it

    def _request(
        self,
        asked: str,
        *,
        version: str = "",
        acks: str = "-1",
        size: str = "3",
    ) -> bytes:
        name, _, correlation_id = asked.partition(":")
        key = api_named(name)
        header = RequestHeader(key, int(version or VERSION), int(correlation_id), "a-client")
        self._asked[header.correlation_id] = header
        return joined(encode_request(header, _body(key, int(acks), int(size))))

    def _answer(self, correlation_id: int, error: ErrorCode) -> bytes:
        header = self._asked.get(correlation_id) or RequestHeader(3, VERSION, correlation_id)
        answer_type = response_type(header.api_key)
        assert answer_type is not None
        answer = answer_type(**({"error_code": error} if error else {}))
        return joined(encode_response(correlation_id, answer, header.api_version))

    def _receive(self, way: Way, data: bytes, bytewise: str = "") -> None:
        pieces = [data[at : at + 1] for at in range(len(data))] if bytewise else [data]
        for piece in pieces:
            self._show(self._conversation.receive(way, memoryview(piece), self._now_ms))

    def _on_hit(self, rule: Rule) -> None:
        self._chronicle.log(f"rule {rule.id} met its request, the {rule.hits}.")

    def _show(self, effects: list[Effect]) -> None:
        for effect in effects:
            match effect:
                case Forward(way=way, data=data):
                    for what in self._told(way, data):
                        self._chronicle.log(f"to the {RECEIVERS[way]}: {what}")
                case End(way=way):
                    self._chronicle.log(f"to the {RECEIVERS[way]}: the end")
                case _:
                    self._chronicle.log("the connection is reset")

    def _told(self, way: Way, data: bytes) -> Iterator[str]:
        reader = FrameReader()
        try:
            for frame in reader.feed(data):
                yield self._request_told(frame) if way is Way.REQUESTS else self._answer_told(frame)
        except (ProtocolError, KeyError):
            pass  # what cannot be read is still there
        if rest := reader.rest():
            yield f"bytes {rest.hex(' ', -4)}"

    def _request_told(self, frame: bytes) -> str:
        header, _ = decode_request_header(frame, 4)
        return f"{api_name(ApiKey(header.api_key))} {header.correlation_id}"

    def _answer_told(self, frame: bytes) -> str:
        header = self._asked[int.from_bytes(frame[4:8], "big")]
        answer_type = response_type(header.api_key)
        assert answer_type is not None
        correlation_id, body = decode_response(answer_type, header.api_version, frame[4:])
        errors = sorted({ErrorCode(code).name for code in error_codes(body) if code})
        return " ".join([f"answer {correlation_id}", *errors])


def _body(key: ApiKey, acks: int, size: int) -> Message:
    request = request_type(key)
    assert request is not None
    if request is ProduceRequest:
        partition = PartitionProduceData(index=0, records=bytes(size))
        topic = TopicProduceData(name="t", partition_data=[partition])
        return ProduceRequest(acks=acks, topic_data=[topic])
    return request()


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, ConversationPlayer())
