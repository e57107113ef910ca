"""A client is closed in the time it is given, whatever a function of the program's is at."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random

import pytest

from logquake.client import Admin, Consumer, Producer
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.thread import ThreadDriver
from logquake.client.driving.waker import Waker
from logquake.client.errors import ClientError, ClosedError
from logquake.client.network.links import Links
from logquake.client.network.settings import NetworkSettings
from logquake.client.producer.appending.interceptors import ProducerInterceptor
from logquake.wire.topic_partition import TopicPartition
from tests.net.asking import CLOCK, run_until, versions
from tests.net.server import Server
from tests.waiting import PATIENCE_S, wait_for

AGES_MS = 2**62
LOGIN = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "OAUTHBEARER",
    "client_id": "ours",
}


class Stuck:
    """A function of the program's that does not return until the test lets it."""

    def __init__(self) -> None:
        self.is_called, self.may_go_on = threading.Event(), threading.Event()

    def __call__(self) -> str:
        self.is_called.set()
        self.may_go_on.wait()
        return "a.b.c"


@pytest.fixture
def stuck(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stuck]:
    """The thread that is in it ends at last, and is not waited for so long before."""
    monkeypatch.setattr(ThreadDriver, "to_end_ms", 100)
    function = Stuck()
    yield function
    function.may_go_on.set()
    wait_for("the client's thread to end", lambda: not runs())


def runs() -> bool:
    """The client's thread, whose name ends in the client's id."""
    return any(each.name.endswith("ours") for each in threading.enumerate())


class Idle:
    def poll(self, _now_ms: int) -> None: ...

    def next_due_ms(self, _polled_ms: int) -> int | None:
        return None

    def abandon(self, _why: ClientError) -> None: ...


@contextmanager
def telling(tell: Callable[[], object]) -> Iterator[ThreadDriver]:
    links = Links(NetworkSettings(), Random(1))

    def new_sockets(waker: Waker) -> SelectorSockets:
        return SelectorSockets(CLOCK, waker=waker)

    driver = ThreadDriver(Idle(), links, CLOCK, new_sockets, name="ours", tell=tell)
    try:
        yield driver
    finally:
        driver.close(CLOCK.now_ms())


def test_a_callback_that_does_not_return_keeps_nobody_from_closing(
    stuck: Stuck, caplog: pytest.LogCaptureFixture
) -> None:
    told: list[str] = []

    def wait(driver: ThreadDriver) -> None:
        try:
            driver.wait(lambda: False, AGES_MS)
        except ClosedError as error:
            told.append(str(error))

    with telling(stuck) as driver:
        assert stuck.is_called.wait(PATIENCE_S)
        waiter = threading.Thread(target=wait, args=(driver,))
        waiter.start()
        assert driver.close(CLOCK.now_ms())
        waiter.join(PATIENCE_S)
        assert told == ["ours is closed"]
        assert runs()
        assert "ours is closed, but a function that its thread calls goes on" in caplog.text
        with pytest.raises(ClosedError):
            driver.call(lambda now_ms: now_ms)


@pytest.mark.parametrize("kind", [Admin, Consumer, partial(Producer, max_block_ms=1)])
def test_a_token_that_does_not_come_keeps_no_client_from_closing(
    kind: Callable[..., Admin | Consumer | Producer], server: Server, stuck: Stuck
) -> None:
    server.handler.answer = lambda _: versions()
    bootstrap = f"localhost:{server.acceptor.port}"
    client = kind(bootstrap_servers=bootstrap, sasl_login_callback_handler_class=stuck, **LOGIN)
    begin(client)
    run_until(server, stuck.is_called.is_set)
    client.close(timeout_ms=1)
    assert runs()


def test_what_a_producer_is_given_is_closed_when_the_thread_that_calls_it_is_at_its_end(
    server: Server, stuck: Stuck
) -> None:
    interceptor = Closable()
    server.handler.answer = lambda _: versions()
    producer = Producer(
        LOGIN | {"bootstrap.servers": f"localhost:{server.acceptor.port}"},
        sasl_login_callback_handler_class=stuck,
        interceptors=[interceptor],
        max_block_ms=1,
    )
    begin(producer)
    run_until(server, stuck.is_called.is_set)
    producer.close(timeout_ms=1)
    assert runs()
    assert not interceptor.is_closed.is_set()
    stuck.may_go_on.set()
    assert interceptor.is_closed.wait(PATIENCE_S)


class Closable(ProducerInterceptor):
    def __init__(self) -> None:
        self.is_closed = threading.Event()

    def close(self) -> None:
        self.is_closed.set()


def begin(client: Admin | Consumer | Producer) -> None:
    """Something that needs a broker."""
    if isinstance(client, Admin):
        client.list_topics()
    elif isinstance(client, Consumer):
        client.assign([TopicPartition("topic", 0)])
    else:
        client.send("topic", b"value")  # whose future fails: nothing is known of the topic
