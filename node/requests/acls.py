"""DescribeAcls (29), CreateAcls (30), DeleteAcls (31), each of versions 0-3.

KIP-140; KIP-290 (v1) prefixed patterns: before, every pattern is literal; v3 has the resource type
user (KIP-373).
What names something unknown ends the connection, as in Kafka, whose classes refuse to be made of
it; where Kafka fails on a request later, all of it is UNKNOWN_SERVER_ERROR.
Any broker answers: it writes to ZooKeeper itself, and tells the others by a notice there.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from logquake.node.authorizer.acl_filters import AclFilter
from logquake.node.authorizer.acls import BrokerAcls, Outcomes
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import (
    CLUSTER_NAME,
    AccessControlEntry,
    AclBinding,
    AclOperation,
    AclPermissionType,
    PatternType,
    ResourcePattern,
    ResourceType,
    of_code,
)
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.acls import (
    AclCreation,
    AclCreationResult,
    AclDescription,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from logquake.wire.principals import parse_principal

_UNKNOWN = 0  # in every enumeration


class _UnreadableError(ValueError):
    """A request that Kafka's own classes refuse to be made of."""


class DescribeAcls(Handler[DescribeAclsRequest]):
    key = ApiKey.DESCRIBE_ACLS
    versions = range(4)

    def __init__(self, acls: BrokerAcls | None) -> None:
        """None without an authorizer."""
        self._acls = acls

    def handle(self, request: Request, body: DescribeAclsRequest) -> None:
        try:
            wanted = _read_filter(body)
        except _UnreadableError as unreadable:
            request.close(f"DescribeAcls with {unreadable}")
            return
        if self._acls is None:
            request.reply(
                DescribeAclsResponse(
                    error_code=ErrorCode.SECURITY_DISABLED,
                    error_message="No Authorizer is configured on the broker",
                )
            )
            return
        found = [
            binding
            for binding in self._acls.authorizer.acls.bindings()
            if wanted.means(binding.pattern) and wanted.means_entry(binding.entry)
        ]
        request.reply(DescribeAclsResponse(resources=_by_resource(found)))


class CreateAcls(Handler[CreateAclsRequest]):
    key = ApiKey.CREATE_ACLS
    versions = range(4)

    def __init__(self, acls: BrokerAcls | None) -> None:
        self._acls = acls

    def handle(self, request: Request, body: CreateAclsRequest) -> None:
        creations = body.creations
        if any(_UNKNOWN in _members(each) for each in creations):
            request.close("CreateAcls with unknown elements")
        elif self._acls is None:
            request.reply(CreateAclsResponse(results=[_disabled() for _ in creations]))
        elif any(map(_is_for_filters, creations)):
            request.reply(CreateAclsResponse(results=[_result(False) for _ in creations]))
        else:
            self._create(self._acls, request, creations)

    @staticmethod
    def _create(acls: BrokerAcls, request: Request, creations: list[AclCreation]) -> None:
        wanted = [_binding(each) for each in creations]
        refused = [_refusal(each) for each in creations]
        spoilt = {
            _pattern(each)
            for each, binding, refusal in zip(creations, wanted, refused, strict=True)
            if binding is None and refusal is None
        }

        def done(outcomes: Outcomes) -> None:
            request.reply(
                CreateAclsResponse(
                    results=[
                        refusal or _result(binding is not None and outcomes.get(binding, False))
                        for binding, refusal in zip(wanted, refused, strict=True)
                    ]
                )
            )

        acls.create(
            [
                binding
                for binding, refusal in zip(wanted, refused, strict=True)
                if binding is not None and refusal is None and binding.pattern not in spoilt
            ],
            done,
        )


class DeleteAcls(Handler[DeleteAclsRequest]):
    key = ApiKey.DELETE_ACLS
    versions = range(4)

    def __init__(self, acls: BrokerAcls | None) -> None:
        self._acls = acls

    def handle(self, request: Request, body: DeleteAclsRequest) -> None:
        try:
            filters = [_read_filter(each) for each in body.filters]
        except _UnreadableError as unreadable:
            request.close(f"DeleteAcls with {unreadable}")
            return

        def done(outcomes: Sequence[Outcomes]) -> None:
            request.reply(DeleteAclsResponse(filter_results=[_deleted(each) for each in outcomes]))

        if self._acls is None:
            disabled = DeleteAclsFilterResult(
                error_code=ErrorCode.SECURITY_DISABLED, error_message=_NOT_CONFIGURED
            )
            request.reply(DeleteAclsResponse(filter_results=[disabled for _ in filters]))
        else:
            self._acls.delete(filters, done)


_NOT_CONFIGURED = "No Authorizer is configured."


def _read_filter(told: DescribeAclsRequest | DeleteAclsFilter) -> AclFilter:
    """Raises _UnreadableError."""
    read = AclFilter(
        of_code(ResourceType, told.resource_type_filter),
        told.resource_name_filter,
        of_code(PatternType, told.pattern_type_filter),
        told.principal_filter,
        told.host_filter,
        of_code(AclOperation, told.operation),
        of_code(AclPermissionType, told.permission_type),
    )
    if _UNKNOWN in (read.resource_type, read.pattern, read.operation, read.permission):
        raise _UnreadableError("unknown elements")
    return read


def _members(
    told: AclCreation,
) -> tuple[ResourceType, PatternType, AclOperation, AclPermissionType]:
    return (
        of_code(ResourceType, told.resource_type),
        of_code(PatternType, told.resource_pattern_type),
        of_code(AclOperation, told.operation),
        of_code(AclPermissionType, told.permission_type),
    )


def _is_for_filters(told: AclCreation) -> bool:
    resource_type, pattern, operation, permission = _members(told)
    return (
        resource_type is ResourceType.ANY
        or pattern in (PatternType.ANY, PatternType.MATCH)
        or operation is AclOperation.ANY
        or permission is AclPermissionType.ANY
    )


def _pattern(told: AclCreation) -> ResourcePattern:
    resource_type, pattern, _, _ = _members(told)
    return ResourcePattern(resource_type, told.resource_name, pattern)


def _binding(told: AclCreation) -> AclBinding | None:
    """None if its principal makes no sense, which spoils all that is wanted of its resource."""
    _, _, operation, permission = _members(told)
    try:
        principal = parse_principal(told.principal)
    except ValueError:
        return None
    return AclBinding(
        _pattern(told), AccessControlEntry(principal, told.host, operation, permission)
    )


def _refusal(told: AclCreation) -> AclCreationResult | None:
    message = _why_not(told)
    if message is None:
        return None
    return AclCreationResult(error_code=ErrorCode.INVALID_REQUEST, error_message=message)


def _why_not(told: AclCreation) -> str | None:
    """AclApis.handleCreateAcls, then AclAuthorizer.validateAclBinding."""
    if told.resource_type == ResourceType.CLUSTER and told.resource_name != CLUSTER_NAME:
        return f"The only valid name for the CLUSTER resource is {CLUSTER_NAME}"
    if not told.resource_name:
        return "Invalid empty resource name"
    return "Failed to create ACL" if "/" in told.resource_name else None


def _result(is_done: bool) -> AclCreationResult:
    if is_done:
        return AclCreationResult()
    return AclCreationResult(error_code=ErrorCode.UNKNOWN_SERVER_ERROR, error_message=None)


def _disabled() -> AclCreationResult:
    return AclCreationResult(error_code=ErrorCode.SECURITY_DISABLED, error_message=_NOT_CONFIGURED)


def _by_resource(bindings: list[AclBinding]) -> list[DescribeAclsResource]:
    ordered = sorted(bindings, key=lambda binding: binding.pattern)
    return [
        DescribeAclsResource(
            resource_type=resource.type,
            resource_name=resource.name,
            pattern_type=resource.pattern,
            acls=[_described(binding.entry) for binding in theirs],
        )
        for resource, theirs in groupby(ordered, key=lambda binding: binding.pattern)
    ]


def _described(entry: AccessControlEntry) -> AclDescription:
    return AclDescription(
        principal=str(entry.principal),
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def _deleted(outcomes: Outcomes) -> DeleteAclsFilterResult:
    return DeleteAclsFilterResult(
        error_message=None,
        matching_acls=[
            DeleteAclsMatchingAcl(
                error_code=ErrorCode.NONE if is_done else ErrorCode.UNKNOWN_SERVER_ERROR,
                error_message=None,
                resource_type=binding.pattern.type,
                resource_name=binding.pattern.name,
                pattern_type=binding.pattern.pattern,
                principal=str(binding.entry.principal),
                host=binding.entry.host,
                operation=binding.entry.operation,
                permission_type=binding.entry.permission,
            )
            for binding, is_done in outcomes.items()
        ],
    )
