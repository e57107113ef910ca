"""Brokers said in /log_dir_event_notification that a log directory failed (KIP-112).

Which replicas were on it only the broker knows: it is sent LeaderAndIsr for all of its replicas
and answers KAFKA_STORAGE_ERROR for those.
"""

from __future__ import annotations

from logquake.controller.journal_events import LOG_DIR_EVENT_IGNORED, LOG_DIR_FAILED
from logquake.controller.state_machines import replica_state_machine
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import read_existing
from logquake.zk.operations import Data, GetChildren
from logquake.zk.procedure import perform
from logquake.zk.znodes.admin import LOG_DIR_EVENT_PATH, LogDirFailure
from logquake.zk.znodes.json_text import MalformedZnode


async def log_dirs_failed(term: Term) -> None:
    """Raises ControllerMoved, ZkFailure."""
    children = await perform(GetChildren(LOG_DIR_EVENT_PATH, watch=True))
    paths = [f"{LOG_DIR_EVENT_PATH}/{name}" for name in children.names]
    reads = await read_existing(paths)
    found = (_broker_of(term, read) for read in reads if read is not None)
    brokers = sorted({broker_id for broker_id in found if broker_id is not None})
    for broker_id in brokers:
        term.note(LOG_DIR_FAILED, f"broker-{broker_id}", "it said so in ZooKeeper")
    await replica_state_machine.bring_online(term, term.context.replicas_on(brokers))
    await term.zk.delete_each(paths)


def _broker_of(term: Term, read: Data) -> int | None:
    """None for a znode that makes no sense: it is deleted, else it would stop all later ones."""
    try:
        return LogDirFailure.decode(read.data).broker_id
    except MalformedZnode as malformed:
        term.note(LOG_DIR_EVENT_IGNORED, LOG_DIR_EVENT_PATH, str(malformed))
        return None
