"""What is in a cluster before a test, to be back at after it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from logquake.client import Admin
from logquake.client.admin import AclBindingFilter
from logquake.client.errors import BrokerError
from logquake.cluster.running.cluster import RunningCluster
from logquake.wire.acls import AclBinding
from logquake.wire.errors import ErrorCode


@dataclass(frozen=True, slots=True)
class Baseline:
    """``configs`` are changes at run time, by entity; ``acls`` are None where nobody is asked."""

    members: frozenset[str]
    topics: frozenset[str]
    groups: frozenset[str]
    configs: Mapping[str, Mapping[str, str]]
    acls: frozenset[AclBinding] | None

    @classmethod
    def of(cls, cluster: RunningCluster, admin: Admin) -> Baseline:
        """Raises ClusterError, ClientError."""
        return cls(
            members=frozenset(member.name for member in cluster.state().members),
            topics=cluster.view.topics(),
            groups=frozenset(
                group.group_id for group in admin.list_consumer_groups().result().all()
            ),
            configs=cluster.view.configs(),
            acls=acls_of(admin),
        )


def acls_of(admin: Admin) -> frozenset[AclBinding] | None:
    """None of a cluster that lets everybody do everything: it has no authorizer."""
    try:
        return frozenset(admin.describe_acls(AclBindingFilter()).result())
    except BrokerError as error:
        if error.code is not ErrorCode.SECURITY_DISABLED:
            raise
        return None
