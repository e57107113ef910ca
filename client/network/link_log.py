"""Logs the end of a connection, once for each attempt (NetworkClient.processDisconnection).

reconnect.backoff.ms separates the attempts, and so the lines.
"""

from __future__ import annotations

import logging

from logquake.client.errors import AuthenticationFailedError, ClientError
from logquake.client.network.link import Link

_LOG = logging.getLogger(__name__)


def log_loss(link: Link, why: ClientError) -> None:
    """The connection failed. A warning if it never served, or if it was to a configured address."""
    if isinstance(why, AuthenticationFailedError):
        level = logging.ERROR
    elif link.serving is None or link.node.id < 0:
        level = logging.WARNING
    else:
        level = logging.INFO
    _LOG.log(level, "node %d: %s", link.node.id, why)


def log_end(link: Link, why: ClientError) -> None:
    """The client no longer needs the connection."""
    _LOG.debug("node %d: %s", link.node.id, why)
