"""Whatever passes on a connection: nothing is lost or changed that no rule is about."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.actions import (
    Action,
    Close,
    Delay,
    Drop,
    Duplicate,
    Fail,
    Hold,
    Reorder,
)
from logquake.cluster.links.requests.conversation import Conversation
from logquake.cluster.links.requests.effects import Effect, End, Forward, Reset
from logquake.cluster.links.requests.frames import FrameReader
from logquake.cluster.links.requests.rules import RequestFault, RuleBook
from logquake.cluster.links.requests.watching import Watches, Witness
from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.errors import ErrorCode
from logquake.wire.header import LENGTH_BYTES, RequestHeader, encode_request, encode_response
from tests.parts import joined

KEYS = (ApiKey.FETCH, ApiKey.METADATA, ApiKey.END_TXN, ApiKey.API_VERSIONS)


def request(key: ApiKey, correlation_id: int) -> bytes:
    kind = request_type(key)
    assert kind is not None
    version = kind.__schema__.versions.last
    return joined(encode_request(RequestHeader(key, version, correlation_id, "a"), kind()))


def answer(key: ApiKey, correlation_id: int) -> bytes:
    kind = response_type(key)
    assert kind is not None
    return joined(encode_response(correlation_id, kind(), kind.__schema__.versions.last))


def _conversation(book: RuleBook) -> Conversation:
    unwatched = Witness(Watches(lambda: 0), "clients", "broker-1")
    return Conversation("clients", "broker-1", book, unwatched)


def passed(way: Way, effects: list[Effect]) -> bytes:
    return b"".join(each.data for each in effects if isinstance(each, Forward) and each.way is way)


@given(pieces=st.lists(st.tuples(st.sampled_from(Way), st.binary(max_size=40)), max_size=20))
def test_without_rules_any_bytes_go_on_as_they_came(pieces: list[tuple[Way, bytes]]) -> None:
    """But for what is left of a frame when its way ends."""
    conversation = _conversation(RuleBook())
    effects = [each for way, data in pieces for each in conversation.receive(way, data, 0)]
    for way in Way:
        came = b"".join(data for one, data in pieces if one is way)
        assert came.startswith(passed(way, effects))
    for way in Way:
        assert End(way) in conversation.end(way, 0)


@pytest.mark.parametrize("seed", range(200))
def test_a_client_hears_each_answer_once_in_the_order_of_its_requests(seed: int) -> None:
    """Under random rules, of a broker that answers in the order in which it was asked."""
    life = _Life(Random(seed))
    life.go_on()
    heard = life.heard()
    if life.may_lose:
        assert heard == life.asked[: len(heard)]
    else:
        assert heard == life.asked
        assert not (life.got - Counter(life.asked) - Counter(life.asked))


class _Life:
    """A client and a broker with a conversation between them."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._book = RuleBook()
        self._conversation = _conversation(self._book)
        self._now_ms = 0
        self._to_broker = FrameReader()
        self._to_client = bytearray()
        self._is_reset = False
        self._pending: list[bytes] = []
        self._keys: dict[int, ApiKey] = {}
        self.asked: list[int] = []
        self.got: Counter[int] = Counter()
        self.may_lose = False
        for rule_id in range(random.randrange(4)):
            self._begin(rule_id)

    def go_on(self) -> None:
        steps = [self._ask, self._ask, self._answer, self._answer, self._wait]
        for _ in range(60):
            self._random.choice(steps)()
        for rule_id in range(4):
            self._book.end(rule_id)
        self._do(self._conversation.review(self._now_ms))
        while self._pending:
            self._answer()

    def heard(self) -> list[int]:
        frames = FrameReader().feed(bytes(self._to_client))
        return [_correlation_id(frame) for frame in frames]

    def _begin(self, rule_id: int) -> None:
        way = self._random.choice(list(Way))
        actions: list[Action] = [
            Fail(ErrorCode.NOT_CONTROLLER),
            Delay(self._random.randrange(50), way),
            Duplicate(),
            Reorder(20),
            Hold(way),
            Drop(way),
            Close(way),
        ]
        action = self._random.choice(actions)
        self.may_lose |= isinstance(action, Drop | Close)
        key = self._random.choice(KEYS)
        rate, seed = self._random.choice([0.3, 1.0]), self._random.randrange(99)
        self._book.begin(rule_id, RequestFault(key, action, rate=rate, seed=seed))

    def _ask(self) -> None:
        key, correlation_id = self._random.choice(KEYS), len(self.asked)
        self.asked.append(correlation_id)
        self._keys[correlation_id] = key
        self._receive(Way.REQUESTS, request(key, correlation_id))

    def _answer(self) -> None:
        if self._pending:
            self._receive(Way.RESPONSES, self._pending.pop(0))

    def _wait(self) -> None:
        self._now_ms += self._random.randrange(30)
        self._do(self._conversation.go_on(self._now_ms))

    def _receive(self, way: Way, data: bytes) -> None:
        cut = self._random.randrange(len(data))
        for piece in (data[:cut], data[cut:]):
            self._do(self._conversation.receive(way, piece, self._now_ms))

    def _do(self, effects: list[Effect]) -> None:
        for effect in effects:
            if self._is_reset:
                return
            match effect:
                case Forward(way=Way.REQUESTS, data=data):
                    for frame in self._to_broker.feed(data):
                        self._serve(frame)
                case Forward(data=data):
                    self._to_client += data
                case Reset():
                    self._is_reset = True
                    self._pending.clear()

    def _serve(self, frame: bytes) -> None:
        correlation_id = int.from_bytes(frame[8:12], "big")
        self.got[correlation_id] += 1
        self._pending.append(answer(self._keys[correlation_id], correlation_id))


def _correlation_id(frame: bytes) -> int:
    return int.from_bytes(frame[LENGTH_BYTES : LENGTH_BYTES + 4], "big")


def test_a_client_may_ask_with_any_ids() -> None:
    """The same one again, or odd ones: answers find their requests by the order."""
    ids = [5, 5, -1, 2**31 - 1, 5]
    book = RuleBook()
    book.begin(1, RequestFault(ApiKey.FETCH, Delay(1)))
    conversation = _conversation(book)
    asked = b"".join(request(ApiKey.METADATA, each) for each in ids)
    assert passed(Way.REQUESTS, conversation.receive(Way.REQUESTS, asked, 0)) == asked
    answers = b"".join(answer(ApiKey.METADATA, each) for each in ids)
    assert passed(Way.RESPONSES, conversation.receive(Way.RESPONSES, answers, 0)) == answers


def test_who_asks_without_end_is_read_no_further() -> None:
    conversation = _conversation(RuleBook())
    assert conversation.may_read(Way.REQUESTS)
    many = b"".join(request(ApiKey.END_TXN, each) for each in range(10_000))
    conversation.receive(Way.REQUESTS, many, 0)
    assert not conversation.may_read(Way.REQUESTS)
    assert conversation.may_read(Way.RESPONSES)
    conversation.receive(Way.RESPONSES, answer(ApiKey.END_TXN, 0), 0)
    assert conversation.may_read(Way.REQUESTS)
