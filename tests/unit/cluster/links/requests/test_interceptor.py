"""A conversation on a connection: what it does to it, when, and who is told."""

from __future__ import annotations

import gc

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.interception import Interceptor, Way
from logquake.cluster.links.requests.actions import Close, Delay, Hold
from logquake.cluster.links.requests.injections import Injections
from logquake.cluster.links.requests.rules import RequestFault
from logquake.seams.scheduler import Scheduler
from logquake.wire.api import ApiKey
from logquake.wire.header import RequestHeader, encode_request, encode_response
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from tests.doubles.scheduler import ManualScheduler
from tests.parts import joined

ASKED = joined(encode_request(RequestHeader(ApiKey.METADATA, 1, 1, "a"), MetadataRequest()))
ANSWER = joined(encode_response(1, MetadataResponse(), 1))


class Recorder:
    """Satisfies interception.Passage, and notes what is done."""

    def __init__(self, dialler: str = "clients", dialled: str = "broker-1") -> None:
        self.dialler = dialler
        self.dialled = dialled
        self.clock = ManualScheduler()
        self.scheduler: Scheduler = self.clock
        self.done: list[tuple[str, object]] = []
        self.resting: set[Way] = set()

    def pass_on(self, way: Way, data: bytes | memoryview) -> None:
        self.done.append((way.name, bytes(data)))

    def end(self, way: Way) -> None:
        self.done.append((way.name, "end"))

    def rest(self, way: Way, *, resting: bool) -> None:
        (self.resting.add if resting else self.resting.discard)(way)

    def reset(self) -> None:
        self.done.append(("both", "reset"))


@pytest.fixture
def passage() -> Recorder:
    return Recorder()


@pytest.fixture
def injections() -> Injections:
    return Injections()


def joining(injections: Injections, passage: Recorder) -> Interceptor:
    interceptor = injections.intercept(passage)
    assert interceptor is not None
    return interceptor


def test_nobody_reads_where_no_fault_is(injections: Injections, passage: Recorder) -> None:
    assert injections.intercept(passage) is None
    injections.hold({1: RequestFault(ApiKey.METADATA, Hold(), sources=("broker-2",))})
    assert injections.intercept(passage) is None
    assert injections.intercept(Recorder("broker-2", "broker-1")) is not None


def test_what_is_late_goes_on_in_its_time(injections: Injections, passage: Recorder) -> None:
    injections.hold({1: RequestFault(ApiKey.METADATA, Delay(100))})
    interceptor = joining(injections, passage)
    interceptor.receive(Way.REQUESTS, memoryview(ASKED))
    interceptor.end(Way.REQUESTS)
    passage.clock.advance(99)
    assert not passage.done
    passage.clock.advance(1)
    assert passage.done == [("REQUESTS", ASKED), ("REQUESTS", "end")]


def test_what_is_held_goes_on_when_the_fault_ends(
    injections: Injections, passage: Recorder
) -> None:
    injections.hold({1: RequestFault(ApiKey.METADATA, Hold(Way.RESPONSES))})
    interceptor = joining(injections, passage)
    interceptor.receive(Way.REQUESTS, memoryview(ASKED))
    interceptor.receive(Way.RESPONSES, memoryview(ANSWER))
    assert passage.done == [("REQUESTS", ASKED)]
    injections.hold({})
    assert passage.done == [("REQUESTS", ASKED), ("RESPONSES", ANSWER)]


def test_no_more_is_read_than_there_is_room_for(injections: Injections, passage: Recorder) -> None:
    injections.hold({1: RequestFault(ApiKey.METADATA, Hold())})
    interceptor = joining(injections, passage)
    interceptor.receive(Way.REQUESTS, memoryview(ASKED * 10_000))
    assert passage.resting == {Way.REQUESTS}
    injections.hold({})
    interceptor.receive(Way.RESPONSES, memoryview(ANSWER * 10_000))
    assert passage.resting == set()


def test_after_a_reset_nothing_is_done(injections: Injections, passage: Recorder) -> None:
    injections.hold({1: RequestFault(ApiKey.METADATA, Close())})
    joining(injections, passage).receive(Way.REQUESTS, memoryview(ASKED * 2))
    assert passage.done == [("both", "reset")]


def test_who_waits_for_a_request_is_told(injections: Injections, passage: Recorder) -> None:
    told: list[int] = []
    injections.hold({4: RequestFault(ApiKey.METADATA, Hold())})
    interceptor = joining(injections, passage)
    injections.when_met(4, 2, told.append)
    interceptor.receive(Way.REQUESTS, memoryview(ASKED))
    assert (told, injections.hits(4)) == ([], 1)
    interceptor.receive(Way.REQUESTS, memoryview(ASKED))
    assert told == [2]
    injections.when_met(4, 1, told.append)
    assert told == [2, 2]


def test_who_waits_for_a_fault_that_ends_is_told_how_far_it_came(injections: Injections) -> None:
    told: list[int] = []
    injections.hold({4: RequestFault(ApiKey.METADATA, Hold())})
    injections.when_met(4, 1, told.append)
    injections.hold({})
    assert told == [0]
    with pytest.raises(ClusterError, match="no fault of requests has the id 4"):
        injections.hits(4)


def test_a_connection_that_is_over_is_forgotten(injections: Injections, passage: Recorder) -> None:
    injections.hold({1: RequestFault(ApiKey.METADATA, Hold())})
    gc.disable()
    try:
        interceptor = joining(injections, passage)
        interceptor.receive(Way.REQUESTS, memoryview(ASKED))
        del interceptor
        injections.hold({})
    finally:
        gc.enable()
    assert not passage.done
