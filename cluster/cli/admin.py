"""The connection of a command to the brokers that it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.cli.options import cluster_of
from logquake.cluster.errors import ClusterError
from logquake.cluster.observing.onlookers import ONLOOKER

if TYPE_CHECKING:
    from logquake.client import Admin

ANSWER_MS = 5_000
CHANGE_MS = 30_000  # of what is made: brokers answer once it is so


@contextmanager
def config_to(bootstrap: str | None, name: str, data_dir: Path | None) -> Iterator[dict[str, str]]:
    """Of a client, under Kafka's keys. Raises ClusterError for whatever it meets in the block."""
    from logquake.client.errors import ClientError

    with cluster_of(name, data_dir) as cluster:
        config = {"bootstrap.servers": bootstrap} if bootstrap else cluster.kafka_config()
        try:
            yield config
        except (ClientError, ValueError) as error:
            raise ClusterError(str(error)) from error


@contextmanager
def admin_to(
    bootstrap: str | None, name: str, data_dir: Path | None, answer_ms: int = ANSWER_MS
) -> Iterator[Admin]:
    """Raises as config_to(). Whoever does not answer in time, frozen say, is not the last to be
    asked. What is not done at the end of the block is given up.
    """
    from logquake.client import Admin

    with config_to(bootstrap, name, data_dir) as config:
        admin = Admin(config, client_id=ONLOOKER, request_timeout_ms=answer_ms)
        try:
            yield admin
        finally:
            admin.close(timeout_ms=0)
