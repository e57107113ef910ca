"""Users' SCRAM credentials, as ZooKeeper says (Kafka's UserConfigHandler)."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.authentication.credentials import Credentials
from logquake.node.journal_events import USER_CONFIG_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.zk.znodes.configs import user_of


class ScramUsers:
    """Called with each user's configuration, and again when it has changed."""

    def __init__(self, credentials: Credentials, journal: Journal) -> None:
        self._credentials = credentials
        self._journal = journal

    def __call__(self, name: str, config: Mapping[str, str]) -> None:
        user = user_of(name)
        if user is None:
            return
        try:
            self._credentials.update_user(user, config)
        except ValueError as error:
            self._journal.record(Event(USER_CONFIG_IGNORED, user, str(error)))
