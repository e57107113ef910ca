"""ACLs: described, created and deleted (KIP-140)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from logquake.client.admin.asking.asks import ANYBODY, Ask, Asks, Reply, Terms, fixed
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.client.errors import ClientError, MalformedResponseError
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
from logquake.wire.messages.acls import (
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsMatchingAcl,
    DeleteAclsRequest,
    DeleteAclsResponse,
    DescribeAclsRequest,
    DescribeAclsResponse,
)
from logquake.wire.principals import parse_principal
from logquake.wire.schema import Message

S = TypeVar("S", DeleteAclsFilter, DescribeAclsRequest)

_PATTERNS_SINCE = 1  # KIP-290; before it all patterns are literal


@dataclass(frozen=True, slots=True)
class AclBindingFilter:
    """None and ANY match everything; ``principal`` has the form ``User:alice``."""

    resource_type: ResourceType = ResourceType.ANY
    resource_name: str | None = None
    pattern_type: PatternType = PatternType.ANY
    principal: str | None = None
    host: str | None = None
    operation: AclOperation = AclOperation.ANY
    permission: AclPermissionType = AclPermissionType.ANY

    @property
    def is_unknown(self) -> bool:
        """Whether it has values of a later Kafka, so that its matches are unknown."""
        return 0 in (self.resource_type, self.pattern_type, self.operation, self.permission)


@dataclass(frozen=True, slots=True)
class DeletedAcl:
    """An ACL that a filter matched; ``error`` says why it was not deleted."""

    binding: AclBinding
    error: ClientError | None


class _Rule(Protocol):
    """The part of a response that says who may do what."""

    principal: str
    host: str
    operation: int
    permission_type: int


def describe_acls(wanted: AclBindingFilter, results: Results[None, tuple[AclBinding, ...]]) -> Asks:
    reply: Reply[DescribeAclsResponse] = yield Ask(
        ANYBODY, DescribeAclsResponse, lambda terms: _filter(DescribeAclsRequest, wanted, terms)
    )
    answer = reply.message
    error = refusal(answer.error_code, "ACLs", answer.error_message)
    results.settle(None, error or tuple(described(answer)))


def _filter(kind: type[S], wanted: AclBindingFilter, terms: Terms) -> S:
    pattern = wanted.pattern_type
    if terms.version < _PATTERNS_SINCE and pattern is PatternType.ANY:
        pattern = PatternType.LITERAL
    return kind(
        resource_type_filter=wanted.resource_type,
        resource_name_filter=wanted.resource_name,
        pattern_type_filter=pattern,
        principal_filter=wanted.principal,
        host_filter=wanted.host,
        operation=wanted.operation,
        permission_type=wanted.permission,
    )


def described(answer: DescribeAclsResponse) -> Iterable[AclBinding]:
    """Raises MalformedResponseError."""
    for resource in answer.resources:
        pattern = _pattern(resource.resource_type, resource.resource_name, resource.pattern_type)
        for rule in resource.acls:
            yield AclBinding(pattern, _entry(rule))


def _pattern(resource_type: int, name: str, pattern_type: int) -> ResourcePattern:
    return ResourcePattern(
        of_code(ResourceType, resource_type), name, of_code(PatternType, pattern_type)
    )


def _entry(rule: _Rule) -> AccessControlEntry:
    try:
        principal = parse_principal(rule.principal)
    except ValueError as error:
        raise MalformedResponseError(f"an ACL of nobody: {error}") from error
    return AccessControlEntry(
        principal,
        rule.host,
        of_code(AclOperation, rule.operation),
        of_code(AclPermissionType, rule.permission_type),
    )


def create_acls(bindings: Sequence[AclBinding], results: Results[AclBinding, None]) -> Asks:
    """``bindings`` must be definite: check them with `indefinite` first."""
    request = CreateAclsRequest(creations=[_creation(each) for each in bindings])
    reply: Reply[CreateAclsResponse] = yield Ask(ANYBODY, CreateAclsResponse, fixed(request))
    for binding, told in zip(bindings, reply.message.results, strict=False):
        results.settle(binding, refusal(told.error_code, str(binding), told.error_message))


def indefinite(binding: AclBinding) -> str | None:
    """Which field is ANY or unknown, as in filters (AclBindingFilter.findIndefiniteField)."""
    pattern, entry = binding.pattern, binding.entry
    if pattern.type in (ResourceType.ANY, ResourceType.UNKNOWN):
        return f"resource type {pattern.type.name}"
    if pattern.pattern not in (PatternType.LITERAL, PatternType.PREFIXED):
        return f"pattern type {pattern.pattern.name}"
    if entry.operation in (AclOperation.ANY, AclOperation.UNKNOWN):
        return f"operation {entry.operation.name}"
    if entry.permission in (AclPermissionType.ANY, AclPermissionType.UNKNOWN):
        return f"permission type {entry.permission.name}"
    return None


def _creation(binding: AclBinding) -> AclCreation:
    pattern, entry = binding.pattern, binding.entry
    return AclCreation(
        resource_type=pattern.type,
        resource_name=pattern.name,
        resource_pattern_type=pattern.pattern,
        principal=str(entry.principal),
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission,
    )


def delete_acls(
    filters: Sequence[AclBindingFilter],
    results: Results[AclBindingFilter, tuple[DeletedAcl, ...]],
) -> Asks:
    def request(terms: Terms) -> Message:
        return DeleteAclsRequest(filters=[_filter(DeleteAclsFilter, f, terms) for f in filters])

    reply: Reply[DeleteAclsResponse] = yield Ask(ANYBODY, DeleteAclsResponse, request)
    for wanted, told in zip(filters, reply.message.filter_results, strict=False):
        error = refusal(told.error_code, str(wanted), told.error_message)
        results.settle(wanted, error or tuple(map(_deleted, told.matching_acls)))


def _deleted(told: DeleteAclsMatchingAcl) -> DeletedAcl:
    pattern = _pattern(told.resource_type, told.resource_name, told.pattern_type)
    binding = AclBinding(pattern, _entry(told))
    return DeletedAcl(binding, refusal(told.error_code, str(binding), told.error_message))
