"""How many partitions keys hash to: what ZooKeeper says at the start, or the settings."""

from __future__ import annotations

from typing import Any

import pytest

from logquake.node.metadata.coordinators import CoordinatorTopic, CoordinatorTopics
from logquake.node.topics.coordinator_topics import read_coordinator_topics
from logquake.zk.model_session import ModelServer
from logquake.zk.operations import Create, WatchEvent
from logquake.zk.procedure import run
from logquake.zk.znodes.parents import create_parents
from logquake.zk.znodes.topics import TopicAssignment

CONFIGURED = CoordinatorTopics(
    CoordinatorTopic("__consumer_offsets", 50), CoordinatorTopic("__transaction_state", 40)
)


class Reader:
    """The session of a broker that starts."""

    def on_connected(self, session_id: int) -> None: ...

    def on_disconnected(self) -> None: ...

    def on_expired(self) -> None: ...

    def on_watch(self, event: WatchEvent) -> None: ...


@pytest.mark.parametrize(
    ("znode", "partitions"),
    [
        (None, 40),
        (TopicAssignment(None, {0: (1,), 1: (1,), 2: (2,)}).encode(), 3),
        (TopicAssignment(None, {}).encode(), 40),
        (b"garbage", 40),
    ],
)
def test_partitions_are_counted_where_the_topic_is_there(
    znode: bytes | None, partitions: int
) -> None:
    server = ModelServer()
    session = server.connect(Reader(), lambda step: step())
    for create in create_parents():
        session.submit(create, lambda _outcome: None)
    if znode is not None:
        path = TopicAssignment.path("__transaction_state")
        session.submit(Create(path, znode), lambda _outcome: None)
    found: list[Any] = []
    run(session, read_coordinator_topics(CONFIGURED), found.append)
    log = CoordinatorTopic("__transaction_state", partitions)
    assert found == [CoordinatorTopics(CONFIGURED.groups, log)]
