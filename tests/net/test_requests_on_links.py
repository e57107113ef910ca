"""Requests that are hurt between ends that are this test's own sockets."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest

from logquake.cluster.links.connection import reset_at_close
from logquake.cluster.links.effects import Cut
from logquake.cluster.links.interception import Way
from logquake.cluster.links.requests.actions import Action, Close, Delay, Drop, Fail, Hold
from logquake.cluster.links.requests.conversation import MAX_HELD_BYTES
from logquake.cluster.links.requests.rules import RequestFault
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.header import RequestHeader, decode_response, encode_request, encode_response
from logquake.wire.messages.transactions import EndTxnRequest, EndTxnResponse
from tests.net.proxied import TO_BROKER, Links, is_over, is_over_or_reset, is_reset, peeked
from tests.parts import joined

VERSION = 3


def asked(correlation_id: int, transactional_id: str = "t") -> bytes:
    header = RequestHeader(ApiKey.END_TXN, VERSION, correlation_id, "a client")
    return joined(encode_request(header, EndTxnRequest(transactional_id=transactional_id)))


def answered(correlation_id: int) -> bytes:
    return joined(encode_response(correlation_id, EndTxnResponse(), VERSION))


def end_txn(action: Action, **limits: Any) -> RequestFault:
    return RequestFault(ApiKey.END_TXN, action, **limits)


def test_a_request_is_refused_and_the_broker_does_not_hear_of_it(live: Links) -> None:
    live.begin(end_txn(Fail(ErrorCode.NOT_COORDINATOR), times=1))
    near, far = live.pair()
    near.send(asked(1) + asked(2))
    answer = live.received(near, len(answered(1)))
    correlation_id, body = decode_response(EndTxnResponse, VERSION, answer[4:])
    assert (correlation_id, body.error_code) == (1, ErrorCode.NOT_COORDINATOR)
    assert live.received(far, len(asked(2))) == asked(2)


def test_a_connection_that_lives_is_joined_at_its_next_request(live: Links) -> None:
    near, far = live.pair()
    first, second = asked(1), asked(2)
    near.send(first[:9])
    assert live.received(far, 9) == first[:9]
    fault_id = live.begin(end_txn(Hold()))
    near.send(first[9:] + second)
    assert live.received(far, len(first) - 9) == first[9:]
    live.settle()
    assert peeked(far) is None
    live.heal(fault_id)
    assert live.received(far, len(second)) == second
    far.send(answered(1) + answered(2))
    assert live.received(near, 2 * len(answered(1))) == answered(1) + answered(2)


@pytest.mark.parametrize("resets", [False, True])
def test_a_late_request_arrives_though_its_client_has_gone(live: Links, resets: bool) -> None:
    live.begin(end_txn(Delay(500)))
    near, far = live.pair()
    near.send(asked(1))
    live.settle()
    if resets:
        reset_at_close(near)
    near.close()
    live.settle()
    assert peeked(far) is None
    assert live.received(far, len(asked(1))) == asked(1)
    live.until(lambda: is_over_or_reset(far))


def test_what_is_held_is_bounded_and_whole_in_the_end(live: Links) -> None:
    fault_id = live.begin(end_txn(Hold()))
    near, far = live.pair()
    request = asked(1, "t" * 30_000)
    data = request * (4 * MAX_HELD_BYTES // len(request))
    sent = 0
    for _ in range(40):
        with contextlib.suppress(BlockingIOError):
            sent += near.send(data[sent:])
        live.settle()
    assert MAX_HELD_BYTES < sent < len(data)
    live.heal(fault_id)
    assert live.send_all(near, data[sent:], far, before_bytes=sent) == data


def test_a_lost_answer_leaves_its_connection_silent(live: Links) -> None:
    live.begin(end_txn(Drop(Way.RESPONSES), times=1))
    near, far = live.pair()
    near.send(asked(1) + asked(2))
    live.received(far, 2 * len(asked(1)))
    far.send(answered(1) + answered(2))
    live.settle()
    assert peeked(near) is None
    near.close()
    live.until(lambda: is_over(far))


def test_a_connection_is_reset_in_place_of_an_answer(live: Links) -> None:
    live.begin(end_txn(Close(Way.RESPONSES)))
    near, far = live.pair()
    near.send(asked(1))
    live.received(far, len(asked(1)))
    far.send(answered(1))
    live.until(lambda: is_reset(near))
    live.until(lambda: is_reset(far))


def test_a_refusal_passes_no_cut(live: Links) -> None:
    """It is made between what was read and what the link lets through."""
    live.begin(end_txn(Fail(ErrorCode.NOT_COORDINATOR)))
    near, _ = live.pair()
    cut_id = live.break_(Cut(), TO_BROKER.reversed())
    near.send(asked(1))
    live.settle()
    assert peeked(near) is None
    live.heal(cut_id)
    assert live.received(near, len(answered(1)))
