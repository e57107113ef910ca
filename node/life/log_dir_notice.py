"""Telling the controller that a log directory failed (KIP-112; Kafka's propagateLogDirEvent).

The znode says no more than which broker it is; the controller asks it for the rest.
"""

from __future__ import annotations

from logquake.node.journal_events import LOG_DIR_FAILURE_NOT_TOLD
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.zk.operations import Create, Session
from logquake.zk.procedure import Procedure, ZkFailure, perform, run
from logquake.zk.znodes.admin import LogDirFailure

_RETRY_MS = 1_000


class LogDirNotice:
    """Sends until ZooKeeper took it: else partitions without a leader would stay so."""

    def __init__(
        self, broker_id: int, session: Session, scheduler: Scheduler, journal: Journal
    ) -> None:
        self._broker_id = broker_id
        self._session = session
        self._scheduler = scheduler
        self._journal = journal

    def send(self) -> None:
        run(self._session, self._tell(), self._on_told)

    def _tell(self) -> Procedure[str]:
        failure = LogDirFailure(self._broker_id)
        return perform(Create(failure.path(), failure.encode(), sequential=True))

    def _on_told(self, told: str | ZkFailure) -> None:
        if isinstance(told, ZkFailure):
            self._journal.record(
                Event(LOG_DIR_FAILURE_NOT_TOLD, f"broker-{self._broker_id}", str(told))
            )
            self._scheduler.call_later(_RETRY_MS, self.send)
