"""Topic configurations as a broker needs them: read from ZooKeeper before a topic is hosted.

A topic's configuration is read when the broker starts, or when it first hosts one of the topic's
partitions, and again after a deletion. What changes later is told by notifications
(node/configs/changes.py), and the broker's own defaults may change as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from logquake.node.journal_events import TOPIC_CONFIG_IGNORED
from logquake.node.replication.settings import TopicConfig
from logquake.node.topics.overrides import topic_config
from logquake.seams.journal import Event, Journal
from logquake.zk.operations import Failed, GetChildren, GetData, Session, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all, perform, run
from logquake.zk.znodes.configs import TOPICS_CONFIG_PATH, EntityConfig, topic_entity
from logquake.zk.znodes.json_text import MalformedZnode


async def read_all(journal: Journal) -> dict[str, EntityConfig]:
    """The overrides of every topic that has some. Raises ZkFailure."""
    return await _read(list((await perform(GetChildren(TOPICS_CONFIG_PATH))).names), journal)


async def _read(topics: list[str], journal: Journal) -> dict[str, EntityConfig]:
    """The overrides of each topic; none where the znode is missing. Raises ZkFailure."""
    paths = [EntityConfig.path(topic_entity(topic)) for topic in topics]
    found = {}
    for topic, outcome in zip(topics, await attempt_all([GetData(p) for p in paths]), strict=True):
        if not isinstance(outcome, Failed):
            found[topic] = _decoded(topic, outcome.data, journal)
        elif outcome.error is ZkError.NO_NODE:
            found[topic] = EntityConfig({})
        else:
            raise ZkFailure(outcome)
    return found


def _decoded(topic: str, data: bytes, journal: Journal) -> EntityConfig:
    """One malformed znode must keep no broker from starting, nor other topics from being led."""
    try:
        return EntityConfig.decode(data)
    except MalformedZnode as malformed:
        why = f"its znode makes no sense, the defaults hold: {malformed}"
        journal.record(Event(TOPIC_CONFIG_IGNORED, topic, why))
        return EntityConfig({})


class TopicConfigs:
    """The configuration of every topic that this broker hosts a partition of."""

    def __init__(
        self,
        session: Session,
        defaults: TopicConfig,
        read: Mapping[str, EntityConfig],
        journal: Journal,
    ) -> None:
        self._session = session
        self._journal = journal
        self._defaults = defaults
        self._overrides: dict[str, Mapping[str, str]] = {}
        self._configs: dict[str, TopicConfig] = {}
        self._reads_under_way = 0
        self._changed_meanwhile: set[str] = set()
        self._keep(read)

    def get(self, topic: str) -> TopicConfig:
        return self._configs.get(topic, self._defaults)

    def load(
        self,
        topics: Iterable[str],
        loaded: Callable[[], None],
        failed: Callable[[ZkFailure], None],
    ) -> None:
        """Read what is not known of these topics yet; then call loaded, or failed."""
        unknown = sorted(set(topics) - self._configs.keys())

        def done(read: dict[str, EntityConfig] | ZkFailure) -> None:
            changed = self._end_read()
            if isinstance(read, ZkFailure):
                failed(read)
                return
            self._keep({topic: found for topic, found in read.items() if topic not in changed})
            self.load(unknown, loaded, failed)

        if unknown:
            self._reads_under_way += 1
            run(self._session, _read(unknown, self._journal), done)
        else:
            loaded()

    def change(self, topic: str, overrides: Mapping[str, str]) -> bool:
        """ZooKeeper holds others for a topic now. Whether it is one of those known here."""
        if topic in self._configs:
            self._set(topic, overrides)
            return True
        if self._reads_under_way:
            self._changed_meanwhile.add(topic)  # what is being read may be older
        return False

    def change_defaults(self, defaults: TopicConfig) -> None:
        """The broker gives something else to topics that say nothing."""
        self._defaults = defaults
        for topic, overrides in self._overrides.items():
            self._set(topic, overrides)

    def forget(self, topic: str) -> None:
        self._configs.pop(topic, None)
        self._overrides.pop(topic, None)

    def _end_read(self) -> set[str]:
        """Topics that changed while something was read."""
        self._reads_under_way -= 1
        changed = set(self._changed_meanwhile)
        if not self._reads_under_way:
            self._changed_meanwhile.clear()
        return changed

    def _keep(self, read: Mapping[str, EntityConfig]) -> None:
        for topic, entity in read.items():
            self._set(topic, entity.config)

    def _set(self, topic: str, overrides: Mapping[str, str]) -> None:
        self._overrides[topic] = overrides
        self._configs[topic] = topic_config(self._defaults, overrides)
