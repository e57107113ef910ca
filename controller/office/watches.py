"""Which event a fired watch stands for."""

from __future__ import annotations

from logquake.controller.events.brokers_changed import broker_modified, brokers_changed
from logquake.controller.events.log_dirs_failed import log_dirs_failed
from logquake.controller.events.state_written import state_written
from logquake.controller.events.topics_changed import (
    deletions_asked,
    partitions_changed,
    topics_changed,
)
from logquake.controller.term import TermProcedure
from logquake.zk.operations import EventType, WatchEvent
from logquake.zk.znodes.admin import DELETE_TOPICS_PATH, LOG_DIR_EVENT_PATH
from logquake.zk.znodes.brokers import IDS_PATH
from logquake.zk.znodes.topics import TOPICS_PATH, partition_of_state

_CHILDREN_OF: dict[str, tuple[str, TermProcedure]] = {
    IDS_PATH: ("brokers-changed", brokers_changed),
    TOPICS_PATH: ("topics-changed", topics_changed),
    DELETE_TOPICS_PATH: ("deletions-asked", deletions_asked),
    LOG_DIR_EVENT_PATH: ("log-dirs-failed", log_dirs_failed),
}


def event_for(fired: WatchEvent) -> tuple[str, TermProcedure] | None:
    """Name and procedure of the event; None for what is not the controller's."""
    if fired.type is EventType.CHILD:
        return _CHILDREN_OF.get(fired.path)
    partition = partition_of_state(fired.path)
    if partition is not None:
        return "state-written", lambda term: state_written(term, partition)
    if fired.type is not EventType.CHANGED:
        return None  # the parent's watch tells of nodes that come and go
    parent, _, name = fired.path.rpartition("/")
    if parent == IDS_PATH:
        return "broker-modified", lambda term: broker_modified(term, int(name))
    if parent == TOPICS_PATH:
        return "partitions-changed", lambda term: partitions_changed(term, name)
    return None
