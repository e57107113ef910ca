"""Two clusters of one broker each, ours and a real Kafka, that are asked the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from kazoo.client import KazooClient

from tests.by_hand import broker_by_hand, own_chroot
from tests.compat.kafka_programs import KafkaPrograms
from tests.compat.sessions import LONG_MS
from tests.one_broker import OneBroker, held_ports
from tests.waiting import PATIENCE_S

TWIN_ID = 1


class Twin(OneBroker):
    """``zookeeper`` is its corner of a server that runs, as one connects to it."""

    def __init__(self, port: int, zookeeper: str) -> None:
        super().__init__(port)
        self.zookeeper = zookeeper

    def znode(self, path: str) -> bytes:
        client = KazooClient(self.zookeeper)
        client.start(PATIENCE_S)
        try:
            return bytes(client.get(path)[0])
        finally:
            client.stop()
            client.close()


T = TypeVar("T", bound=Twin)
P = ParamSpec("P")


@contextmanager
def twins_of(
    kind: type[T],
    programs: KafkaPrograms,
    zookeeper: str,
    folder: Path,
    properties: Mapping[str, object],
) -> Iterator[tuple[T, T]]:
    """Ours and Kafka's, with the same properties, each in a corner of the ZooKeeper server."""
    with ExitStack() as brokers:
        ports = brokers.enter_context(held_ports(2))
        ours, kafkas = (
            kind(port, own_chroot(zookeeper, f"{folder.name}-{name}"))
            for port, name in zip(ports, ("ours", "kafkas"), strict=True)
        )
        both_have = {"broker.id": TWIN_ID, **properties}
        brokers.enter_context(broker_by_hand(folder, both_have | places_of(ours, folder / "ours")))
        brokers.enter_context(
            programs.broker(f"{folder.name}-twin", both_have | places_of(kafkas, folder / "kafkas"))
        )
        for each in (ours, kafkas):
            each.wait_to_know({TWIN_ID})
        yield ours, kafkas


def both(
    twins: tuple[T, T], ask: Callable[Concatenate[T, P], Any], *of: P.args, **rest: P.kwargs
) -> Any:
    """What both say."""
    ours, kafkas = (ask(each, *of, **rest) for each in twins)
    assert ours == kafkas, (of, rest, ours, kafkas)
    return ours


def places_of(twin: Twin, data: Path) -> dict[str, object]:
    """Where it listens, keeps its data and finds its cluster."""
    return {
        "listeners": f"PLAINTEXT://127.0.0.1:{twin.port}",
        "zookeeper.connect": twin.zookeeper,
        "zookeeper.session.timeout.ms": LONG_MS,
        "log.dirs": data,
    }
