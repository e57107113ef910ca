"""Puts users into ZooKeeper before the first broker starts, which none could enter without.

Run in a process of its own: kazoo has threads, and whoever forks brokers must have none.
"""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.net.loop import EventLoop
from logquake.zk.kazoo_session import KazooSession
from logquake.zk.operations import Create, Failed, SetData, WatchEvent, ZkError
from logquake.zk.procedure import ZkFailure, attempt, perform, run
from logquake.zk.znodes.configs import EntityConfig, user_entity
from logquake.zk.znodes.parents import create_parents

_TIMEOUT_MS = 18_000


def write_users(connect: str, configs: Mapping[str, Mapping[str, str]]) -> int:
    """Configurations by user; the exit status."""
    return _Writer(connect, configs).run()


class _Writer:
    """A SessionListener that does one thing and ends."""

    def __init__(self, connect: str, configs: Mapping[str, Mapping[str, str]]) -> None:
        self._configs = configs
        self._loop = EventLoop()
        self._failure = f"no ZooKeeper at {connect} within {_TIMEOUT_MS} ms"
        self._loop.call_later(_TIMEOUT_MS, self._loop.stop)
        self._session = KazooSession(connect, _TIMEOUT_MS, _TIMEOUT_MS, self, self._loop.post)

    def run(self) -> int:
        self._loop.run()
        self._session.close()
        if self._failure:
            print(self._failure, flush=True)
        return 1 if self._failure else 0

    def on_connected(self, _session_id: int) -> None:
        run(self._session, self._write(), self._on_written)

    def on_disconnected(self) -> None:
        """Kazoo goes on trying, until the time is over."""

    def on_expired(self) -> None:
        """A new session follows."""

    def on_watch(self, event: WatchEvent) -> None:
        raise RuntimeError(f"nothing is watched: {event}")

    async def _write(self) -> None:
        for parent in create_parents():
            await attempt(parent)
        for user, config in sorted(self._configs.items()):
            path, data = EntityConfig.path(user_entity(user)), EntityConfig(config).encode()
            made = await attempt(Create(path, data))
            if isinstance(made, Failed) and made.error is ZkError.NODE_EXISTS:
                await perform(SetData(path, data))
            elif isinstance(made, Failed):
                raise ZkFailure(made)

    def _on_written(self, outcome: ZkFailure | None) -> None:
        self._failure = str(outcome) if isinstance(outcome, ZkFailure) else ""
        self._loop.stop()
