"""DescribeClientQuotas (48) and AlterClientQuotas (49), versions 0-1 (KIP-546).

Of users, client ids, both (KIP-55) and addresses (KIP-612). Any broker alters. Absent: quotas of a
custom kind, which client.quota.callback.class, a class of Java's, would know.
"""

from __future__ import annotations

from collections.abc import Sequence

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.quotas.administration import (
    Alteration,
    Described,
    Outcome,
    QuotaAdministration,
)
from logquake.node.quotas.alteration import CLIENT_ID, IP, USER, Operation
from logquake.node.quotas.describing import Component, Entity, MatchType
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode, Refused
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeClientQuotasResponseEntryData,
    EntityData,
    ValueData,
)

_DENIED = Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, "Cluster authorization failed.")
_TYPES = (CLIENT_ID, USER, IP)  # as Kafka's hash map has them


class DescribeClientQuotas(Handler[DescribeClientQuotasRequest]):
    key = ApiKey.DESCRIBE_CLIENT_QUOTAS
    versions = range(2)

    def __init__(self, administration: QuotaAdministration, authorizer: Authorizer) -> None:
        self._administration = administration
        self._authorizer = authorizer

    def handle(self, request: Request, body: DescribeClientQuotasRequest) -> None:
        def done(found: Described | Refused) -> None:
            request.reply(_description(found))

        if not self._authorizer.allows_on_cluster(request, AclOperation.DESCRIBE_CONFIGS):
            done(Refused(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, None))
            return
        try:
            components = [_component(each) for each in body.components]
        except ValueError:
            done(Refused(ErrorCode.UNKNOWN_SERVER_ERROR, None))
            return
        self._administration.describe(components, done, strict=body.strict)


class AlterClientQuotas(Handler[AlterClientQuotasRequest]):
    key = ApiKey.ALTER_CLIENT_QUOTAS
    versions = range(2)

    def __init__(self, administration: QuotaAdministration, authorizer: Authorizer) -> None:
        self._administration = administration
        self._authorizer = authorizer

    def handle(self, request: Request, body: AlterClientQuotasRequest) -> None:
        if not self._authorizer.allows_on_cluster(request, AclOperation.ALTER_CONFIGS):
            denied = [_outcome(each.entity, _DENIED) for each in body.entries]
            request.reply(AlterClientQuotasResponse(entries=denied))
            return
        alterations = [_alteration(each) for each in body.entries]

        def done(outcomes: Sequence[Outcome]) -> None:
            """An entity that was named twice is answered once, for the last time."""
            told = {
                tuple(sorted(each.entity.items(), key=_place)): outcome
                for each, outcome in zip(alterations, outcomes, strict=True)
            }
            entries = [_outcome(_entity(dict(each)), told[each]) for each in told]
            request.reply(AlterClientQuotasResponse(entries=entries))

        self._administration.alter(alterations, done, only_check=body.validate_only)


def _component(data: ComponentData) -> Component:
    """Raises ValueError for what Kafka's own request cannot hold."""
    match_type = MatchType(data.match_type)
    if match_type is MatchType.EXACT and data.match is None:
        raise ValueError("exactly nothing")
    return Component(data.entity_type, match_type, data.match)


def _alteration(data: AlterClientQuotasRequestEntryData) -> Alteration:
    return Alteration(
        {each.entity_type: each.entity_name for each in data.entity},
        [Operation(each.key, None if each.remove else each.value) for each in data.ops],
    )


def _description(found: Described | Refused) -> DescribeClientQuotasResponse:
    if isinstance(found, Refused):
        return DescribeClientQuotasResponse(
            error_code=found.code, error_message=found.message, entries=None
        )
    return DescribeClientQuotasResponse(
        entries=[
            DescribeClientQuotasResponseEntryData(
                entity=_entity(entity),
                values=[ValueData(key=key, value=value) for key, value in quotas.items()],
            )
            for entity, quotas in found
        ],
    )


def _outcome(
    entity: Sequence[EntityData], refused: Refused | None
) -> AlterClientQuotasResponseEntryData:
    return AlterClientQuotasResponseEntryData(
        error_code=ErrorCode.NONE if refused is None else refused.code,
        error_message=None if refused is None else refused.message,
        entity=list(entity),
    )


def _entity(entity: Entity) -> list[EntityData]:
    return [EntityData(entity_type=type_, entity_name=name) for type_, name in entity.items()]


def _place(item: tuple[str, str | None]) -> int:
    return _TYPES.index(item[0]) if item[0] in _TYPES else len(_TYPES)
