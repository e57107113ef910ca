"""What passes on one connection, request by request, and what the rules make of it.

Pure: bytes and the time in, effects out. Frames go on when they are whole. What cannot be read (a
frame of absurd length, a header that is none, the tokens that follow a SaslHandshake 0) goes on as
it is, with all that comes after it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from struct import Struct

from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.actions import (
    Close,
    Delay,
    Drop,
    Duplicate,
    Fail,
    Hold,
    Notice,
    Reorder,
    way_of,
)
from logquake.cluster.links.requests.answering import Answering, Exchange
from logquake.cluster.links.requests.asking import Asked, Asking, Fate
from logquake.cluster.links.requests.effects import Effect, End, Forward, Reset
from logquake.cluster.links.requests.frames import FrameReader
from logquake.cluster.links.requests.reading import ReadRequest, read_request, refusal_of
from logquake.cluster.links.requests.rules import Rule, RuleBook
from logquake.cluster.links.requests.telling import errors_in
from logquake.cluster.links.requests.waiting import UNTIL_HEALED
from logquake.cluster.links.requests.watching import Witness
from logquake.wire.errors import ErrorCode, ProtocolError
from logquake.wire.header import LENGTH_BYTES

#: What a connection may hold of a way before no more is read from it.
MAX_HELD_BYTES = 4 * 1024 * 1024
#: Requests that may wait for answers; with more, none is read.
MAX_EXPECTED = 10_000

_CORRELATION = Struct(">i")


class Conversation:
    """Between two ends of a link. Times are monotonic milliseconds.

    ``witness`` sees what the dialler asks, and what it gets for it.
    """

    def __init__(self, dialler: str, dialled: str, book: RuleBook, witness: Witness) -> None:
        self._dialler = dialler
        self._dialled = dialled
        self._book = book
        self._witness = witness
        self._readers = {way: FrameReader() for way in Way}
        self._asking = Asking()
        self._answering = Answering()
        self._is_blind = False

    def receive(self, way: Way, data: bytes | memoryview, now_ms: float) -> list[Effect]:
        if self._is_blind:
            return [Forward(way, bytes(data))]
        effects: list[Effect] = []
        try:
            for frame in self._readers[way].feed(data):
                if way is Way.REQUESTS:
                    self._on_request(frame, now_ms)
                else:
                    effects += self._on_answer(frame, now_ms)
        except ProtocolError:
            return [*effects, *self._go_blind()]
        return [*effects, *self.go_on(now_ms)]

    def end(self, way: Way, now_ms: float) -> list[Effect]:
        """No more come that way; what is left of a frame is of no use to anybody."""
        if self._is_blind:
            return [End(way)]
        if way is Way.RESPONSES:
            self._answering.end()
        else:
            for rule_id in self._asking.end():
                self._book.was_in_vain(rule_id)
        return self.go_on(now_ms)

    def review(self, now_ms: float) -> list[Effect]:
        """Rules hold no longer: what they kept goes on."""
        for wait in (*self._asking.waits, *self._answering.waits):
            for rule_id in wait.rules:
                if rule_id not in self._book:
                    wait.drop(rule_id)
        return self.go_on(now_ms)

    def go_on(self, now_ms: float) -> list[Effect]:
        """What need not wait any longer."""
        return [*self._ask(now_ms), *self._answer(now_ms)]

    def wake_ms(self) -> float | None:
        """When something may go on that waits now."""
        firsts = (next(self._asking.waits, None), next(self._answering.waits, None))
        due = (wait.until_ms for wait in firsts if wait is not None)
        return min((until_ms for until_ms in due if math.isfinite(until_ms)), default=None)

    def may_read(self, way: Way) -> bool:
        """Whether there is room for more of that way."""
        if way is Way.REQUESTS:
            return self._asking.held_bytes < MAX_HELD_BYTES and len(self._answering) < MAX_EXPECTED
        return self._answering.kept_bytes < MAX_HELD_BYTES

    # Requests

    def _on_request(self, frame: bytes, now_ms: float) -> None:
        if self._asking.is_silent:
            return
        request = read_request(frame)
        header = request.header
        rules = list(self._book.take(self._dialler, self._dialled, header))
        sighting = self._witness.asked(request)
        exchange = Exchange(header, sighting) if request.wants_answer else None
        asked = Asked(frame, header.api_key, exchange)
        for rule in rules:
            if way_of(rule.fault.action) is Way.REQUESTS:
                self._apply(rule, asked, request, now_ms)
            elif exchange is not None:
                exchange.rules.append(rule)
            else:
                self._book.was_in_vain(rule.id)
        if exchange is not None:
            self._answering.expect(exchange)
        self._overtake(asked, self._asking.add(asked))

    def _apply(self, rule: Rule, asked: Asked, request: ReadRequest, now_ms: float) -> None:
        """What is done to the request itself."""
        match rule.fault.action:
            case Fail(error=error):
                if not self._fail(asked, request, error):
                    self._book.was_in_vain(rule.id)
                    return
            case Delay(ms=ms):
                asked.wait.add(rule.id, now_ms + ms)
            case Hold():
                asked.wait.add(rule.id, UNTIL_HEALED)
            case Drop():
                asked.fate = Fate.LOST
            case Close():
                asked.fate = Fate.RESET
            case Duplicate():
                asked.copies = 2
            case Reorder(within_ms=within_ms):
                asked.wait.add(rule.id, now_ms + within_ms)
                asked.wants_overtaker = rule.id
                return  # met when one comes
        self._book.met(rule.id)

    def _fail(self, asked: Asked, request: ReadRequest, error: ErrorCode) -> bool:
        """False for one that cannot be read, so not answered either: the broker is to have it."""
        body = request.body()
        if body is None:
            return False
        answer = refusal_of(request.header, body, error)
        asked.fate = Fate.RESET if answer is None else Fate.ANSWERED
        asked.answer = answer or b""
        return True

    def _overtake(self, asked: Asked, rule_id: int | None) -> None:
        """It went past another, and waits for none that would go past itself."""
        if rule_id is None:
            return
        self._book.met(rule_id)
        own = asked.wants_no_overtaker()
        if own is not None:
            self._book.was_in_vain(own)

    def _ask(self, now_ms: float) -> Iterator[Effect]:
        for asked in self._asking.take(now_ms):
            if asked.wants_overtaker is not None:
                self._book.was_in_vain(asked.wants_overtaker)
            match asked.fate:
                case Fate.PASS:
                    if asked.exchange is not None:
                        self._answering.asked(asked.exchange, asked.copies)
                    yield Forward(Way.REQUESTS, asked.frame * asked.copies)
                case Fate.ANSWERED if asked.exchange is not None:
                    self._answered(asked.exchange, asked.answer, now_ms)
                case Fate.LOST:
                    self._asking.fall_silent()
                    if asked.exchange is not None:
                        asked.exchange.is_lost = True
                case _:
                    yield Reset()
        if self._asking.take_end():
            yield End(Way.REQUESTS)

    # Answers

    def _on_answer(self, frame: bytes, now_ms: float) -> Iterator[Effect]:
        if len(frame) < LENGTH_BYTES + _CORRELATION.size:
            raise ProtocolError("an answer without a correlation id")
        (correlation_id,) = _CORRELATION.unpack_from(frame, LENGTH_BYTES)
        try:
            exchange = self._answering.match(correlation_id)
        except KeyError:  # asked for before anybody read here, so before all that is expected
            yield Forward(Way.RESPONSES, frame)
            return
        if exchange is not None:
            self._answered(exchange, frame, now_ms)

    def _answered(self, exchange: Exchange, frame: bytes, now_ms: float) -> None:
        exchange.answer = frame
        for rule in exchange.rules:
            if rule.id not in self._book:
                continue
            match rule.fault.action:
                case Delay(ms=ms):
                    exchange.wait.add(rule.id, now_ms + ms)
                case Hold():
                    exchange.wait.add(rule.id, UNTIL_HEALED)
                case Drop():
                    exchange.is_lost = True
                case Close():
                    exchange.resets = True
                case Notice(error=ErrorCode() as error):
                    if error not in errors_in(exchange.header, frame):
                        self._book.was_in_vain(rule.id)
                        continue
            self._book.met(rule.id)

    def _answer(self, now_ms: float) -> Iterator[Effect]:
        for exchange in self._answering.take(now_ms):
            if exchange.resets:
                yield Reset()
            elif exchange.answer is not None:
                self._witness.answered(exchange.sighting, exchange.answer)
                yield Forward(Way.RESPONSES, exchange.answer)
        if self._answering.take_end():
            yield End(Way.RESPONSES)

    # Behind it

    def _go_blind(self) -> Iterator[Effect]:
        """From now on all goes on unread, first what is held."""
        self._is_blind = True
        held = {
            Way.REQUESTS: [asked.frame for asked in self._asking.rest()],
            Way.RESPONSES: list(self._answering.rest()),
        }
        for way, frames in held.items():
            yield Forward(way, b"".join([*frames, self._readers[way].rest()]))
        if self._asking.take_end():
            yield End(Way.REQUESTS)
        if self._answering.take_end():
            yield End(Way.RESPONSES)
