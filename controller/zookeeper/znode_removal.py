"""The znodes of deleted topics: partitions, assignments, configurations and deletion marks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from logquake.controller.zookeeper.guarded_zk import GuardedZk, Outcome
from logquake.zk.operations import Children, Delete, Failed, GetChildren, ZkError
from logquake.zk.procedure import ZkFailure, attempt_all
from logquake.zk.znodes.admin import delete_topic_path
from logquake.zk.znodes.configs import EntityConfig, topic_entity
from logquake.zk.znodes.topics import TopicAssignment


async def remove_topics_znodes(zk: GuardedZk, topics: Sequence[str]) -> None:
    """In Kafka's order: the marks go last, so that an end in between is noticed and redone.

    Raises ControllerMoved, ZkFailure.
    """
    await remove_recursively(zk, [TopicAssignment.path(topic) for topic in topics])
    await zk.delete_each([EntityConfig.path(topic_entity(topic)) for topic in topics])
    await zk.delete_each([delete_topic_path(topic) for topic in topics])


async def remove_recursively(zk: GuardedZk, paths: Sequence[str]) -> None:
    """Children before their parents; a node that is gone already is no failure.

    What somebody writes beneath them meanwhile goes as well.
    """
    while paths:
        below = await _all_below(paths)
        tree = [each for path in paths for each in _bottom_up(path, below)]
        outcomes = dict(zip(tree, await zk.write_each(list(map(Delete, tree))), strict=True))
        paths = [path for path in paths if _is_not_empty(outcomes[path])]


async def _all_below(paths: Sequence[str]) -> dict[str, list[str]]:
    """The children of each node, and of all nodes under it."""
    below: dict[str, list[str]] = {}
    level = paths
    while level:
        found = await children_of_each(level)
        below.update(
            (path, [f"{path}/{name}" for name in names])
            for path, names in zip(level, found, strict=True)
        )
        level = [child for path in level for child in below[path]]
    return below


def _is_not_empty(outcome: Outcome) -> bool:
    return isinstance(outcome, Failed) and outcome.error is ZkError.NOT_EMPTY


def _bottom_up(path: str, below: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for child in below[path]:
        yield from _bottom_up(child, below)
    yield path


async def children_of(path: str) -> tuple[str, ...]:
    """None where there is no node. Raises ZkFailure."""
    return (await children_of_each([path]))[0]


async def children_of_each(paths: Sequence[str]) -> list[tuple[str, ...]]:
    """As children_of(), side by side."""
    return [_names(each) for each in await attempt_all([GetChildren(path) for path in paths])]


def _names(outcome: Children | Failed) -> tuple[str, ...]:
    if not isinstance(outcome, Failed):
        return outcome.names
    if outcome.error is ZkError.NO_NODE:
        return ()
    raise ZkFailure(outcome)
