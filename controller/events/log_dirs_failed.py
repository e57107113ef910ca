"""Brokers said in /log_dir_event_notification that a log directory failed (KIP-112).

Which replicas were on it only the broker knows: it is sent LeaderAndIsr for all of its replicas
and answers KAFKA_STORAGE_ERROR for those.
"""

from __future__ import annotations

from logquake.controller import replica_moves
from logquake.controller.term import Term
from logquake.controller.watched_reads import read_existing
from logquake.zk.operations import GetChildren
from logquake.zk.procedure import perform
from logquake.zk.znodes.admin import LOG_DIR_EVENT_PATH, LogDirFailure


async def log_dirs_failed(term: Term) -> None:
    """Raises ControllerMoved, ZkFailure."""
    children = await perform(GetChildren(LOG_DIR_EVENT_PATH, watch=True))
    paths = [f"{LOG_DIR_EVENT_PATH}/{name}" for name in children.names]
    reads = await read_existing(paths)
    brokers = sorted({LogDirFailure.decode(read.data).broker_id for read in reads if read})
    for broker_id in brokers:
        term.note("log-dir-failed", f"broker-{broker_id}", "it said so in ZooKeeper")
    replica_moves.bring_online(term, term.context.replicas_on(brokers))
    await term.zk.delete_each(paths)
