"""FindCoordinator and InitProducerId, in every version that is served."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.requests.find_coordinator import FindCoordinator
from logquake.node.requests.init_producer_id import InitProducerId
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import FindCoordinatorRequest
from logquake.wire.messages.transactions import InitProducerIdRequest

init_versions = pytest.mark.parametrize("version", InitProducerId.versions)


@pytest.mark.parametrize("version", FindCoordinator.versions)
@pytest.mark.parametrize(
    ("key_type", "since"), [(0, 0), (1, 1), (2, 6), (3, 99), (-1, 99), (127, 99)]
)
def test_nobody_coordinates(broker: Any, version: int, key_type: int, since: int) -> None:
    if version == 0:
        key_type, since = 0, 0
    known = version >= since
    expected = ErrorCode.COORDINATOR_NOT_AVAILABLE if known else ErrorCode.INVALID_REQUEST
    if version >= 4:
        request = FindCoordinatorRequest(key_type=key_type, coordinator_keys=["a", "", "a"])
        reply = broker.ask(request, version)
        assert [each.key for each in reply.coordinators] == ["a", "", "a"]
        found = {(each.error_code, each.node_id, each.port) for each in reply.coordinators}
    else:
        reply = broker.ask(FindCoordinatorRequest(key="a", key_type=key_type), version)
        found = {(reply.error_code, reply.node_id, reply.port)}
    assert found == {(expected, -1, -1)}


@init_versions
def test_every_producer_gets_an_id_of_its_own(broker: Any, version: int) -> None:
    request = InitProducerIdRequest(transactional_id=None, transaction_timeout_ms=-1)
    replies = [broker.ask(request, version) for _ in range(1100)]
    assert {(reply.error_code, reply.producer_epoch) for reply in replies} == {(0, 0)}
    assert len({reply.producer_id for reply in replies}) == len(replies)


@init_versions
@pytest.mark.parametrize(
    ("transactional_id", "error"),
    [("", ErrorCode.INVALID_REQUEST), ("t", ErrorCode.COORDINATOR_NOT_AVAILABLE)],
)
def test_transactional_ids(
    broker: Any, version: int, transactional_id: str, error: ErrorCode
) -> None:
    request = InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=60_000
    )
    reply = broker.ask(request, version)
    assert (reply.error_code, reply.producer_id, reply.producer_epoch) == (error, -1, -1)


@pytest.mark.parametrize("version", range(3, 6))
@pytest.mark.parametrize(
    ("producer_id", "epoch", "error"),
    [
        (-1, 3, ErrorCode.INVALID_REQUEST),
        (5, -1, ErrorCode.INVALID_REQUEST),
        (5, 3, ErrorCode.NONE),
        (2**63 - 1, 2**15 - 1, ErrorCode.NONE),
    ],
)
def test_a_producer_that_has_an_id(
    broker: Any, version: int, producer_id: int, epoch: int, error: ErrorCode
) -> None:
    request = InitProducerIdRequest(
        transactional_id=None,
        transaction_timeout_ms=-1,
        producer_id=producer_id,
        producer_epoch=epoch,
    )
    assert broker.ask(request, version).error_code == error
