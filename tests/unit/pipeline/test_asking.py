"""What went wrong at a cluster, in a line."""

from __future__ import annotations

import pytest

from logquake.client.errors import (
    BrokerError,
    ClientError,
    ConnectionLostError,
    DeliveryError,
    ProducerFencedError,
    TransactionFailedError,
)
from logquake.pipeline.asking import BrokersError, asking, told
from logquake.wire.errors import ErrorCode


def undelivered() -> DeliveryError:
    try:
        refused = BrokerError(ErrorCode.TOPIC_AUTHORIZATION_FAILED, "t-0")
        raise DeliveryError(refused, may_be_written=False) from refused
    except DeliveryError as error:
        return error


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            ConnectionLostError("no connection to a:1: refused"),
            "no broker answers: no connection to a:1: refused",
        ),
        (
            BrokerError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "topic t"),
            "there is no such topic or partition: UNKNOWN_TOPIC_OR_PARTITION: topic t",
        ),
        (
            undelivered(),
            "a right on the topic is missing (Describe; to read it Read; to write it Write, and "
            "exactly once Read too; to copy its settings DescribeConfigs): "
            "TOPIC_AUTHORIZATION_FAILED: t-0",
        ),
        (
            TransactionFailedError(undelivered()),
            "a right on the topic is missing (Describe; to read it Read; to write it Write, and "
            "exactly once Read too; to copy its settings DescribeConfigs): "
            "TOPIC_AUTHORIZATION_FAILED: t-0",
        ),
        (
            ProducerFencedError("EndTxn"),
            "another attempt has taken over: EndTxn: fenced, another producer has taken the "
            "transactional.id",
        ),
        (BrokerError(ErrorCode.CORRUPT_MESSAGE, "t-0"), "CORRUPT_MESSAGE: t-0"),
    ],
)
def test_an_error_says_what_it_means_where_that_is_known(error: ClientError, line: str) -> None:
    assert told(error) == line


def test_what_was_done_and_where_is_said() -> None:
    with (
        pytest.raises(BrokersError, match=r"^reading t-0 at a:1: no broker answers: nobody$"),
        asking({"bootstrap.servers": "a:1"}, "reading t-0"),
    ):
        raise ConnectionLostError("nobody")
