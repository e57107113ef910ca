"""Who may do what: every rule that there is, new ones, and the end of some."""

from __future__ import annotations

from collections.abc import Iterable

from logquake.client.errors import check
from logquake.client.routing import Router
from logquake.wire.acls import (
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
    of_code,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.acls import (
    AclCreation,
    AclDescription,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from logquake.wire.principals import parse_principal


class Acls:
    """All methods raise ClientError: BrokerError with Kafka's code where a broker refused."""

    def __init__(self, router: Router) -> None:
        self._router = router

    def list_all(self, broker_id: int | None = None) -> frozenset[AclBinding] | None:
        """As that broker knows them, or any; None of one that lets everybody do everything.

        Such a one has no authorizer.
        """
        request = DescribeAclsRequest(
            resource_type_filter=ResourceType.ANY,
            resource_name_filter=None,
            pattern_type_filter=PatternType.ANY,
            principal_filter=None,
            host_filter=None,
            operation=AclOperation.ANY,
            permission_type=AclPermissionType.ANY,
        )

        def attempt() -> frozenset[AclBinding] | None:
            router = self._router
            asked = router.any_broker() if broker_id is None else router.broker(broker_id)
            answer = asked.request(request, DescribeAclsResponse)
            if answer.error_code == ErrorCode.SECURITY_DISABLED:
                return None
            check(answer.error_code, answer.error_message or "ACLs")
            return frozenset(
                _binding(resource, acl) for resource in answer.resources for acl in resource.acls
            )

        return self._router.with_retries(attempt)

    def create(self, bindings: Iterable[AclBinding]) -> None:
        """Brokers obey a moment after the answer, as with delete()."""
        request = CreateAclsRequest(
            creations=[
                AclCreation(
                    resource_type=each.pattern.type,
                    resource_name=each.pattern.name,
                    resource_pattern_type=each.pattern.pattern,
                    principal=str(each.entry.principal),
                    host=each.entry.host,
                    operation=each.entry.operation,
                    permission_type=each.entry.permission,
                )
                for each in bindings
            ]
        )

        def attempt() -> None:
            answer = self._router.any_broker().request(request, CreateAclsResponse)
            for result in answer.results:
                check(result.error_code, result.error_message or "an ACL to be created")

        self._router.with_retries(attempt)

    def delete(self, bindings: Iterable[AclBinding]) -> None:
        """These alone, not what else they would match."""
        request = DeleteAclsRequest(
            filters=[
                DeleteAclsFilter(
                    resource_type_filter=each.pattern.type,
                    resource_name_filter=each.pattern.name,
                    pattern_type_filter=each.pattern.pattern,
                    principal_filter=str(each.entry.principal),
                    host_filter=each.entry.host,
                    operation=each.entry.operation,
                    permission_type=each.entry.permission,
                )
                for each in bindings
            ]
        )

        def attempt() -> None:
            answer = self._router.any_broker().request(request, DeleteAclsResponse)
            for result in answer.filter_results:
                check(result.error_code, result.error_message or "an ACL to be deleted")

        self._router.with_retries(attempt)


def _binding(resource: DescribeAclsResource, acl: AclDescription) -> AclBinding:
    return AclBinding(
        ResourcePattern(
            of_code(ResourceType, resource.resource_type),
            resource.resource_name,
            of_code(PatternType, resource.pattern_type),
        ),
        AccessControlEntry(
            parse_principal(acl.principal),
            acl.host,
            of_code(AclOperation, acl.operation),
            of_code(AclPermissionType, acl.permission_type),
        ),
    )
