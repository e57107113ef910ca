"""Children of /admin/delete_topics changed (KafkaController.processTopicDeletion)."""

from __future__ import annotations

from logquake.controller.state_machines import topic_deletion_manager
from logquake.controller.term import Term
from logquake.controller.zookeeper.watched_reads import read_topics_to_delete
from logquake.zk.znodes.admin import delete_topic_path


async def deletions_asked(term: Term) -> None:
    """Marks of unknown topics are removed, and all of them if deletion is switched off.

    Raises ControllerMoved, ZkFailure.
    """
    marked = await read_topics_to_delete()
    wanted = {topic for topic in marked if term.context.has_topic(topic)}
    if not term.settings.delete_topic_enable:
        wanted = set()
    await term.zk.delete_each([delete_topic_path(topic) for topic in sorted(marked - wanted)])
    if wanted:
        await topic_deletion_manager.enqueue(term, sorted(wanted))
