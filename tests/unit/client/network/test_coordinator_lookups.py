"""What an answer to FindCoordinator says, in versions of one key and of several."""

from __future__ import annotations

import pytest

from logquake.client.errors import MalformedResponseError
from logquake.client.network.coordinator_lookups import found_in, found_of
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.find_coordinator import Coordinator, FindCoordinatorResponse

NAMED = Coordinator(key="g", node_id=1, host="one", port=9092)


def test_an_answer_without_keys_is_about_the_one_that_was_asked() -> None:
    old = FindCoordinatorResponse(node_id=1, host="one", port=9092)
    assert found_of(old, "g") == NAMED
    refused = FindCoordinatorResponse(error_code=ErrorCode.NOT_CONTROLLER)
    assert found_of(refused, "g").error_code == ErrorCode.NOT_CONTROLLER


def test_an_answer_of_several_that_names_none_is_not_taken_for_an_older_one() -> None:
    assert found_in(FindCoordinatorResponse(), "g") == []
    with pytest.raises(MalformedResponseError):
        found_of(FindCoordinatorResponse(), "g")


def test_an_answer_has_to_be_about_the_one_that_was_asked() -> None:
    other = Coordinator(key="h", node_id=1, host="one", port=9092)
    for coordinators in ([other], [NAMED, other], [NAMED, NAMED]):
        with pytest.raises(MalformedResponseError):
            found_of(FindCoordinatorResponse(coordinators=coordinators), "g")
