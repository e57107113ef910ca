"""Which topics there are no more. The metadata cache cannot tell: it does not know a topic that is
deleted, nor one all of whose partitions the controller has set aside, nor one of which it was not
told yet. ZooKeeper knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from logquake.zk.operations import Exists, Session
from logquake.zk.procedure import ZkFailure, perform_all, run
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.topics import TopicAssignment


class DeletedTopics:
    def __init__(self, session: Session) -> None:
        self._session = session

    def find(self, topics: Iterable[str], done: Callable[[frozenset[str]], None]) -> None:
        """done gets those of them that are deleted, or going to be: some replica may be away for
        long. It is not called where ZooKeeper does not answer.
        """

        def found(outcome: frozenset[str] | ZkFailure) -> None:
            if not isinstance(outcome, ZkFailure):
                done(outcome)

        run(self._session, _deleted(sorted(topics)), found)


async def _deleted(topics: Sequence[str]) -> frozenset[str]:
    """Raises ZkFailure."""
    stored = await perform_all([Exists(TopicAssignment.path(each)) for each in topics])
    to_be_deleted = await perform_all([Exists(delete_topic_path(each)) for each in topics])
    return frozenset(
        topic
        for topic, there, leaving in zip(topics, stored, to_be_deleted, strict=True)
        if there is None or leaving is not None
    )
