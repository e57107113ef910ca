"""Whether a broker has heard of what was undone: brokers obey a moment after the answer."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.client import Admin
from logquake.client.admin import ConfigResource, ConfigResourceType
from logquake.client.admin.acls import described
from logquake.client.errors import check
from logquake.client.settings import Address
from logquake.cluster.observing.broker_connections import BrokerConnections
from logquake.cluster.observing.set_configs import was_set_at_run_time
from logquake.cluster.state import MemberState
from logquake.wire.acls import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourceType,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.acls import DescribeAclsRequest, DescribeAclsResponse

Configs = Mapping[str, Mapping[str, str]]


def has_configs(admin: Admin, broker_id: int, configs: Configs) -> bool:
    """Whether it is set to these keys, of ``configs`` by entity. Raises ClientError."""
    wanted = {*configs.get(f"brokers/{broker_id}", ()), *configs.get("brokers/<default>", ())}
    broker = ConfigResource(ConfigResourceType.BROKER, str(broker_id))
    told = admin.describe_configs([broker])[broker].result()
    return {name for name, entry in told.items() if was_set_at_run_time(entry)} == wanted


def acls_told(connections: BrokerConnections, broker: MemberState) -> frozenset[AclBinding] | None:
    """All that this one knows of; None of one without an authorizer. Raises ClientError."""
    request = DescribeAclsRequest(
        resource_type_filter=ResourceType.ANY,
        resource_name_filter=None,
        pattern_type_filter=PatternType.ANY,
        principal_filter=None,
        host_filter=None,
        operation=AclOperation.ANY,
        permission_type=AclPermissionType.ANY,
    )
    answer = connections.ask(Address(broker.host, broker.port), request, DescribeAclsResponse)
    if answer.error_code == ErrorCode.SECURITY_DISABLED:
        return None
    check(answer.error_code, answer.error_message or f"the ACLs of {broker.name}")
    return frozenset(described(answer))
