"""Sessions of a real ZooKeeper for older clients."""

from __future__ import annotations

from logquake.client.classic.coordination.client import OpenSession, Post
from logquake.client.classic.settings.zookeeper import ZooKeeperKeys
from logquake.zk.kazoo_session import KazooSession
from logquake.zk.operations import Session, SessionListener
from logquake.zk.retry import RetryingSession


def kazoo_sessions(config: ZooKeeperKeys) -> OpenSession:
    """For zookeeper.connect. A chroot must exist."""

    def open_session(listener: SessionListener, post: Post) -> Session:
        return RetryingSession(
            lambda inner: KazooSession(
                config.zookeeper_connect,
                config.zookeeper_session_timeout_ms,
                config.zookeeper_connection_timeout_ms,
                inner,
                post,
            ),
            listener,
        )

    return open_session
