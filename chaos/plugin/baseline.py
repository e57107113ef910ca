"""What is in a cluster before a test, to be back at after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.client.acls import Acls
from logquake.client.groups import Groups
from logquake.client.routing import Router
from logquake.cluster.running.cluster import RunningCluster
from logquake.wire.acls import AclBinding


@dataclass(frozen=True, slots=True)
class Baseline:
    """``configs`` are changes at run time, by entity; ``acls`` are None where nobody is asked."""

    members: frozenset[str]
    topics: frozenset[str]
    groups: frozenset[str]
    configs: Mapping[str, Mapping[str, str]]
    acls: frozenset[AclBinding] | None

    @classmethod
    def of(cls, cluster: RunningCluster, router: Router) -> Baseline:
        """Raises ClusterError, ClientError."""
        return cls(
            members=frozenset(member.name for member in cluster.state().members),
            topics=cluster.view.topics(),
            groups=frozenset(group.group_id for group in Groups(router).list_all()),
            configs=cluster.view.configs(),
            acls=Acls(router).list_all(),
        )
