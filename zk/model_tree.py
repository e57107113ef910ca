"""The tree of znodes in the model of ZooKeeper, and the four writes upon it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from logquake.zk.operations import (
    ANY_VERSION,
    Check,
    Children,
    Create,
    Data,
    Delete,
    EventType,
    Failed,
    SetData,
    Stat,
    WatchEvent,
    Write,
    ZkError,
)

Answer = str | Stat | None


class Refused(Exception):  # noqa: N818 - ZooKeeper's refusal, not a bug of ours
    def __init__(self, error: ZkError, path: str) -> None:
        super().__init__(f"{error.value} {path}")
        self.failed = Failed(error, path)


@dataclass(slots=True)
class Node:
    data: bytes | None
    czxid: int
    mzxid: int
    ephemeral_owner: int = 0
    version: int = 0
    creates: int = 0  # of children, ever: the next sequential name
    children: set[str] = field(default_factory=set)

    def stat(self) -> Stat:
        return Stat(
            czxid=self.czxid,
            mzxid=self.mzxid,
            version=self.version,
            ephemeral_owner=self.ephemeral_owner,
            num_children=len(self.children),
        )


@dataclass(frozen=True, slots=True)
class Transaction:
    """Writes that took place: their answers, themselves with final paths, what they changed."""

    answers: tuple[Answer, ...]
    writes: tuple[Write, ...]
    changes: tuple[WatchEvent, ...]


class Tree:
    """A new tree holds the root and the znodes that ZooKeeper makes for itself."""

    def __init__(self) -> None:
        self._nodes: dict[str, Node] = {"": Node(None, 0, 0)}
        self._saved: dict[str, Node | None] = {}
        for path in ("/zookeeper", "/zookeeper/config", "/zookeeper/quota"):
            self.write(0, 0, [Create(path)])

    def data(self, path: str) -> Data:
        node = self._existing(path)
        return Data(node.data or b"", node.stat())

    def stat(self, path: str) -> Stat | None:
        node = self._nodes.get(_key(path))
        return None if node is None else node.stat()

    def children(self, path: str) -> Children:
        node = self._existing(path)
        return Children(tuple(sorted(node.children)), node.stat())

    def ephemerals(self, session_id: int) -> list[str]:
        """Paths of a session's ephemeral nodes, sorted."""
        return sorted(p for p, node in self._nodes.items() if node.ephemeral_owner == session_id)

    def write(self, zxid: int, session_id: int, writes: Sequence[Write]) -> Transaction:
        """Perform all of the writes. Raises Refused, and then none has taken place."""
        answers: list[Answer] = []
        final: list[Write] = []
        changes: list[WatchEvent] = []
        self._saved = {}
        try:
            for write in writes:
                answer, write = self._perform(zxid, session_id, write)
                answers.append(answer)
                final.append(write)
                if not isinstance(write, Check):
                    changes.append(WatchEvent(_EVENTS[type(write)], write.path))
        except Refused:
            self._roll_back()
            raise
        return Transaction(tuple(answers), tuple(final), tuple(changes))

    def _perform(self, zxid: int, session_id: int, write: Write) -> tuple[Answer, Write]:
        match write:
            case Create():
                created = self._create(zxid, session_id, write)
                return created.path, created
            case SetData():
                return self._set(zxid, write), write
            case Delete():
                self._delete(write)
            case Check():
                self._existing(write.path, write.version)
        return None, write

    def _create(self, zxid: int, session_id: int, create: Create) -> Create:
        parent_key, parent = self._parent(create.path)
        asked = create.path  # a refusal tells no number
        if create.sequential:
            create = replace(create, path=f"{create.path}{parent.creates:010d}", sequential=False)
        key = _key(create.path)
        if key in self._nodes:
            raise Refused(ZkError.NODE_EXISTS, asked)
        if parent.ephemeral_owner:
            raise Refused(ZkError.NO_CHILDREN_FOR_EPHEMERALS, asked)
        self._save(parent_key)
        self._save(key)
        self._nodes[key] = Node(
            create.data, zxid, zxid, ephemeral_owner=session_id if create.ephemeral else 0
        )
        parent.creates += 1
        parent.children.add(key.rpartition("/")[2])
        return create

    def _set(self, zxid: int, write: SetData) -> Stat:
        node = self._existing(write.path, write.version)
        self._save(_key(write.path))
        node.data = write.data
        node.version += 1
        node.mzxid = zxid
        return node.stat()

    def _delete(self, write: Delete) -> None:
        parent_key, parent = self._parent(write.path)
        if self._existing(write.path, write.version).children:
            raise Refused(ZkError.NOT_EMPTY, write.path)
        key = _key(write.path)
        self._save(parent_key)
        self._save(key)
        del self._nodes[key]
        parent.children.remove(key.rpartition("/")[2])

    def _parent(self, path: str) -> tuple[str, Node]:
        key = _key(path).rpartition("/")[0]
        parent = self._nodes.get(key)
        if parent is None:
            raise Refused(ZkError.NO_NODE, path)
        return key, parent

    def _existing(self, path: str, version: int = ANY_VERSION) -> Node:
        node = self._nodes.get(_key(path))
        if node is None:
            raise Refused(ZkError.NO_NODE, path)
        if version not in (ANY_VERSION, node.version):
            raise Refused(ZkError.BAD_VERSION, path)
        return node

    def _save(self, key: str) -> None:
        if key not in self._saved:
            node = self._nodes.get(key)
            self._saved[key] = node and replace(node, children=set(node.children))

    def _roll_back(self) -> None:
        for key, node in self._saved.items():
            if node is None:
                self._nodes.pop(key, None)
            else:
                self._nodes[key] = node


_EVENTS: dict[type[Write], EventType] = {
    Create: EventType.CREATED,
    SetData: EventType.CHANGED,
    Delete: EventType.DELETED,
}


def _key(path: str) -> str:
    """The root is the empty key, so that a node's parent is all before its last slash."""
    return "" if path == "/" else path
