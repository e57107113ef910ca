"""Members of groups that ZooKeeper coordinates: ours, and those of 0.8.2.2."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kazoo.client import KazooClient
from kazoo.exceptions import NoNodeError

from logquake.client.classic.consumer_connector import ConsumerConnector
from logquake.client.classic.consuming.stream import KafkaStream
from logquake.client.classic.consuming.topic_filter import Blacklist, Whitelist
from logquake.client.classic.serializer import StringDecoder
from logquake.wire.topic_partition import TopicPartition
from tests.compat.old_releases import OldReleases
from tests.compat.sessions import LONG_MS
from tests.waiting import PATIENCE_S, wait_for

RELEASE = "0.8.2.2"
PROGRAM = Path(__file__).parent / "java" / "classic" / "Streams.java"

Taken = list[tuple[TopicPartition, int, str]]


def keys_of(zookeeper: str, group: str, **more: object) -> dict[str, object]:
    """Of a consumer that is starved, and reads from the beginning."""
    keys = {
        "zookeeper.connect": zookeeper,
        "group.id": group,
        "zookeeper.session.timeout.ms": LONG_MS,
        "zookeeper.connection.timeout.ms": LONG_MS,
        "auto.offset.reset": "smallest",
        "auto.commit.interval.ms": 500,
        "rebalance.backoff.ms": 300,
        "rebalance.max.retries": 100,
    }
    return keys | {key.replace("_", "."): value for key, value in more.items()}


class Member:
    """Of either kind."""

    def __init__(self, consumer_id: str) -> None:
        self.id = consumer_id

    def taken(self) -> Taken:
        """What it was handed out so far."""
        raise NotImplementedError


class OurMember(Member):
    def __init__(self, connector: ConsumerConnector, streams: list[KafkaStream[Any, Any]]) -> None:
        super().__init__(connector.consumer_id)
        self.connector = connector
        self._taken: Taken = []
        self._threads = [threading.Thread(target=self._take, args=(each,)) for each in streams]
        for each in self._threads:
            each.start()

    def taken(self) -> Taken:
        return list(self._taken)

    def join(self) -> None:
        for each in self._threads:
            each.join(PATIENCE_S)
            assert not each.is_alive()

    def _take(self, stream: KafkaStream[Any, Any]) -> None:
        for each in stream:
            place = TopicPartition(each.topic, each.partition)
            self._taken.append((place, each.offset, each.message or ""))


class TheirMember(Member):
    def __init__(self, consumer_id: str, said: Path) -> None:
        super().__init__(consumer_id)
        self._said = said

    def taken(self) -> Taken:
        whole = self._said.read_text().rpartition("\n")[0].splitlines()
        parted = [line.split(" ", 3) for line in whole]
        return [
            (TopicPartition(topic, int(partition)), int(offset), text)
            for topic, partition, offset, text in parted
        ]


@contextmanager
def our_member(
    keys: dict[str, object], topics: str, *, streams: int = 1, kind: str = "static"
) -> Iterator[OurMember]:
    filters = {"white_list": Whitelist, "black_list": Blacklist}
    with ConsumerConnector(keys) as connector:
        if kind in filters:
            made = connector.create_message_streams_by_filter(
                filters[kind](topics), streams, value_decoder=StringDecoder()
            )
        else:
            made = connector.create_message_streams(
                {topics: streams}, value_decoder=StringDecoder()
            )[topics]
        member = OurMember(connector, made)
        yield member
    member.join()


@contextmanager
def their_member(
    old: OldReleases,
    folder: Path,
    keys: dict[str, object],
    topics: str,
    *,
    streams: int = 1,
    kind: str = "static",
    name: str = "theirs",
    release: str = RELEASE,
) -> Iterator[TheirMember]:
    settings = folder / f"{name}.properties"
    settings.write_text(
        "".join(f"{key}={value}\n" for key, value in {**keys, "consumer.id": name}.items())
    )
    said = folder / f"{name}.out"
    arguments = (str(settings), kind, topics, str(streams))
    with old.running(said, release, str(PROGRAM), *arguments) as process:
        yield TheirMember(f"{keys['group.id']}_{name}", said)
        assert process.poll() is None, said.with_suffix(".err").read_text()


class GroupNodes:
    """What ZooKeeper holds of a group."""

    def __init__(self, client: KazooClient, group: str) -> None:
        self._client = client
        self._path = f"/consumers/{group}"

    def registration(self, consumer: str) -> dict[str, Any]:
        """Without the time."""
        told = json.loads(self._client.get(f"{self._path}/ids/{consumer}")[0])
        assert told.pop("timestamp").isdecimal()
        assert isinstance(told, dict)
        return told

    def owners(self) -> dict[TopicPartition, str]:
        """The stream that owns each partition."""
        return {
            place: data.decode() for place, data in self._by_place("owners") if data is not None
        }

    def offsets(self) -> dict[TopicPartition, int]:
        return {place: int(data) for place, data in self._by_place("offsets") if data is not None}

    def wait_for_owners(self, places: int, *members: Member) -> dict[TopicPartition, str]:
        """Until each partition has one, and each member owns some."""

        def is_shared(owners: dict[TopicPartition, str]) -> bool:
            names = {owner.rpartition("-")[0] for owner in owners.values()}
            return len(owners) == places and names == {member.id for member in members}

        what = f"partitions owned by {', '.join(member.id for member in members)}"
        return wait_for(what, self.owners, is_shared)

    def _by_place(self, kind: str) -> list[tuple[TopicPartition, bytes | None]]:
        return [
            (TopicPartition(topic, int(partition)), self._data(f"{kind}/{topic}/{partition}"))
            for topic in self._children(kind)
            for partition in self._children(f"{kind}/{topic}")
        ]

    def _data(self, path: str) -> bytes | None:
        try:
            return bytes(self._client.get(f"{self._path}/{path}")[0])
        except NoNodeError:
            return None

    def _children(self, path: str) -> list[str]:
        try:
            return sorted(self._client.get_children(f"{self._path}/{path}"))
        except NoNodeError:
            return []
