"""Every request, in every version, has an answer that says that all of it failed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from logquake.wire.api import ApiKey, request_type, response_type
from logquake.wire.error_codes import error_codes
from logquake.wire.errors import ErrorCode
from logquake.wire.header import decode_response, encode_response
from logquake.wire.messages.produce import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from logquake.wire.refusals import refused
from logquake.wire.schema import Message
from tests.parts import joined
from tests.wire.samples import Manner, Samples

ERROR = ErrorCode.NOT_CONTROLLER
# What has a place for an error of the whole only in later versions says nothing in earlier ones.
SILENT = {(ApiKey.DESCRIBE_LOG_DIRS, version) for version in range(3)}


def filled(key: ApiKey) -> Iterator[tuple[int, Message]]:
    request = request_type(key)
    assert request is not None
    for version in request.__schema__.versions:
        yield version, Samples(key.name).message(request, version, Manner.FILLED)


@pytest.mark.parametrize("key", ApiKey, ids=lambda key: key.name)
def test_every_version_of_every_request_is_refused_in_a_frame_that_can_be_read(
    key: ApiKey,
) -> None:
    answer_type = response_type(key)
    assert answer_type is not None
    for version, request in filled(key):
        answer = refused(key, version, request, ERROR, "why")
        assert answer is not None
        frame = joined(encode_response(7, answer, version))
        correlation_id, read = decode_response(answer_type, version, frame[4:])
        assert correlation_id == 7
        codes = set(error_codes(read)) - {ErrorCode.NONE}
        assert codes == (set() if (key, version) in SILENT else {ERROR}), (version, read)


def test_a_produce_without_acks_is_never_answered() -> None:
    partitions = [PartitionProduceData(index=0, records=b"")]
    body = ProduceRequest(
        acks=0, topic_data=[TopicProduceData(name="t", partition_data=partitions)]
    )
    assert refused(ApiKey.PRODUCE, 9, body, ERROR) is None
