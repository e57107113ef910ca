"""A topic's configuration has changed: what this broker does about it (TopicConfigHandler)."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from logquake.node.replication.settings import TopicConfig
from logquake.node.topics.configs import TopicConfigs

_UNCLEAN = "unclean.leader.election.enable"


class TopicConfigHandler:
    """``reconfigure`` lets a topic's partitions here obey; ``elect_unclean`` has the controller
    elect where nobody in the ISR lives, if this broker is in that office.
    """

    def __init__(
        self,
        configs: TopicConfigs,
        reconfigure: Callable[[str, TopicConfig], None],
        elect_unclean: Callable[[str], None],
    ) -> None:
        self._configs = configs
        self._reconfigure = reconfigure
        self._elect_unclean = elect_unclean

    def __call__(self, topic: str, overrides: Mapping[str, str]) -> None:
        if self._configs.change(topic, overrides):
            self._reconfigure(topic, self._configs.get(topic))
        if overrides.get(_UNCLEAN, "").lower() == "true":
            self._elect_unclean(topic)
