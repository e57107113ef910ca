"""The connection of a command to the brokers that it asks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from logquake.cluster.cli.options import cluster_of
from logquake.cluster.errors import ClusterError

if TYPE_CHECKING:
    from logquake.client.routing import Router


@contextmanager
def router_to(bootstrap: str | None, name: str, data_dir: Path | None) -> Iterator[Router]:
    """Raises ClusterError for whatever the client meets."""
    from logquake.client.driving.way_in import PLAIN
    from logquake.client.errors import ClientError
    from logquake.client.routing import Router
    from logquake.client.settings import ClientSettings

    with cluster_of(name, data_dir) as cluster:
        servers = bootstrap or cluster.bootstrap_servers
        way_in = PLAIN if bootstrap else cluster.way_in
        try:
            with Router(ClientSettings(servers), way_in=way_in) as router:
                yield router
        except (ClientError, ValueError) as error:
            raise ClusterError(str(error)) from error
