"""A process that is forked may not use its parent's clients, and takes nothing from them."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import traceback
import warnings
from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any

import pytest

from logquake.client import Admin, Consumer, Producer, aio
from logquake.client.driving.sockets import SelectorSockets
from logquake.client.driving.steps import Call, Steps
from logquake.client.driving.thread import ThreadDriver
from logquake.client.driving.waker import Waker
from logquake.client.errors import ClosedError
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.messages.metadata import MetadataResponse
from logquake.wire.topic_partition import TopicPartition
from tests.net.asking import CLOCK, Asking, run_until, versions
from tests.net.server import Server
from tests.waiting import PATIENCE_S

NOWHERE = "127.0.0.1:1"
TOPIC = TopicPartition("topic", 0)


def in_a_child(body: Callable[[], object]) -> int:
    """How it ends: 0, or 1 with what it raised on standard error, or by the alarm if it hangs."""
    return end_of(forked(), body)


def forked() -> int:
    """As of `os.fork`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that there are threads, of 3.12 on
        child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(PATIENCE_S))
    return child


def end_of(child: int, body: Callable[[], object]) -> int:
    """The child does what it has to there, and ends."""
    if child == 0:
        status = 1
        try:
            body()
            status = 0
        except BaseException:  # noqa: BLE001 - the child must not go on as a second test
            traceback.print_exc()
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def asking_driver(core: Asking) -> ThreadDriver:
    def new_sockets(waker: Waker) -> SelectorSockets:
        return SelectorSockets(CLOCK, waker=waker)

    return ThreadDriver(core, core.links, CLOCK, new_sockets, name="ours")


def refuses(call: Callable[[], object]) -> None:
    with pytest.raises(ClosedError, match="belongs to the process that this one was forked from"):
        call()


def test_a_lock_that_somebody_held_at_the_fork_keeps_no_child() -> None:
    held, may_go_on = threading.Event(), threading.Event()

    def hold(_now_ms: int) -> bool:
        held.set()
        return may_go_on.wait(PATIENCE_S)

    def child() -> None:
        refuses(lambda: driver.call(lambda now_ms: now_ms))
        refuses(lambda: driver.wait(lambda: True, CLOCK.now_ms()))
        refuses(driver.wake)
        assert driver.is_closed
        assert not driver.close()

    with closing(asking_driver(Asking("127.0.0.1", 1))) as driver:
        holder = threading.Thread(target=driver.call, args=(hold,))
        holder.start()
        assert held.wait(PATIENCE_S)
        assert in_a_child(child) == 0
        may_go_on.set()
        holder.join()
        assert driver.call(lambda _: "goes on") == "goes on"


def test_a_child_that_is_forked_in_a_listener_is_told_when_that_comes_back() -> None:
    children: list[int] = []
    raised: list[BaseException] = []

    def fork_within() -> Steps[str]:
        yield Call(lambda: children.append(forked()))
        return "goes on"

    def child() -> None:
        assert "was forked from" in str(raised[0])
        assert isinstance(raised[0], ClosedError)

    with closing(asking_driver(Asking("127.0.0.1", 1))) as driver:
        try:
            assert driver.run(fork_within()) == "goes on"
        except BaseException as error:  # noqa: BLE001 - the child must not go on as a second test
            raised.append(error)
        assert end_of(children[0], child) == 0
        assert not raised


def test_a_child_that_closes_its_parents_client_ends_no_connection_of_it(server: Server) -> None:
    def tell_versions(request: Request) -> None:
        if request.header.api_key == ApiKey.API_VERSIONS:
            request.reply(versions())

    server.handler.on_request = tell_versions
    core = Asking("localhost", server.acceptor.port)
    with closing(asking_driver(core)) as driver:
        run_until(server, lambda: len(server.handler.requests) == 2)
        assert in_a_child(driver.close) == 0
        server.handler.requests[1].reply(MetadataResponse())
        run_until(server, lambda: core.answers)
    assert isinstance(core.answers[0], MetadataResponse)


def of_a_producer() -> tuple[Any, list[Callable[[], object]]]:
    producer = Producer(bootstrap_servers=NOWHERE)
    return producer, [
        lambda: producer.send("topic", b"value"),
        producer.flush,
        producer.metrics,
        lambda: producer.partitions_for("topic"),
    ]


def of_a_consumer() -> tuple[Any, list[Callable[[], object]]]:
    consumer = Consumer(bootstrap_servers=NOWHERE)
    consumer.assign([TOPIC])
    return consumer, [
        consumer.poll,
        consumer.poll_batches,
        consumer.wakeup,
        lambda: consumer.position(TOPIC),
    ]


def of_an_admin_client() -> tuple[Any, list[Callable[[], object]]]:
    admin = Admin(bootstrap_servers=NOWHERE, default_api_timeout_ms=2**31 - 1)
    asked = admin.list_topics()
    return admin, [
        admin.list_topics,
        asked.result,
        lambda: asked.add_done_callback(print),
        admin.metrics,
    ]


@pytest.mark.parametrize("made", [of_a_producer, of_a_consumer, of_an_admin_client])
def test_each_call_of_a_parents_client_says_so_and_its_end_comes_at_once(
    made: Callable[[], tuple[Any, list[Callable[[], object]]]],
) -> None:
    client, calls = made()

    def child() -> None:
        for call in calls:
            refuses(call)
        with client:
            pass
        client.close()

    try:
        assert in_a_child(child) == 0
        assert client.metrics()
    finally:
        client.close(timeout_ms=0)


def test_a_child_of_a_program_on_a_loop_takes_nothing_from_the_loop() -> None:
    async def child(producer: aio.Producer, consumer: aio.Consumer, admin: aio.Admin) -> None:
        calls: list[Callable[[], Any]] = [
            lambda: producer.send("topic", b"value"),
            producer.flush,
            consumer.poll,
            lambda: consumer.position(TOPIC),
        ]
        for call in calls:
            with pytest.raises(ClosedError, match="was forked from"):
                await call()
        refuses(admin.list_topics)
        for client in (producer, consumer, admin):
            await client.close()

    def to_its_end(steps: Coroutine[None, None, None]) -> None:
        with pytest.raises(StopIteration):  # it waits for nothing
            steps.send(None)

    async def main() -> None:
        asked = asyncio.get_running_loop().create_future()

        async def on_connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.set_result(await reader.read(1))
            writer.close()

        listener = await asyncio.start_server(on_connected, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        producer = aio.Producer(bootstrap_servers=NOWHERE)
        consumer = aio.Consumer(bootstrap_servers=NOWHERE)
        admin = aio.Admin(bootstrap_servers=f"127.0.0.1:{port}")
        try:
            admin.list_topics()
            steps = child(producer, consumer, admin)
            assert in_a_child(lambda: to_its_end(steps)) == 0
            steps.close()
            await asyncio.wait_for(asked, PATIENCE_S)  # the loop hears of the connection
        finally:
            for client in (producer, consumer, admin):
                await client.close(timeout_ms=0)
            listener.close()

    asyncio.run(main())
