"""AlterConfigs (33), versions 0-2, and IncrementalAlterConfigs (44), versions 0-1.

The older one replaces all that a topic or a broker was set to; the newer one (KIP-339) changes
single keys, and sets log levels (KIP-412). Absent: client metrics (KIP-714), which Kafka serves in
KRaft alone, and policies (alter.config.policy.class.name), which are Java's.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from logquake.node.authorizer.authorizer import Authorizer
from logquake.node.configs.admin import ConfigAdmin, Outcome
from logquake.node.configs.alteration import (
    Alteration,
    ConfigResourceType,
    Operation,
    ResourceChange,
)
from logquake.node.requests.handler import B, Handler
from logquake.node.requests.request import Request
from logquake.wire.acls import AclOperation, ResourceType
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResponse,
)


class _Altering(Handler[B]):
    def __init__(self, admin: ConfigAdmin, authorizer: Authorizer) -> None:
        self._admin = admin
        self._authorizer = authorizer

    def _allows(self, request: Request, change: ResourceChange) -> bool:
        if change.type == ConfigResourceType.TOPIC:
            return self._authorizer.allows(
                request, AclOperation.ALTER_CONFIGS, ResourceType.TOPIC, change.name
            )
        return self._authorizer.allows_on_cluster(request, AclOperation.ALTER_CONFIGS)


class AlterConfigs(_Altering[AlterConfigsRequest]):
    key = ApiKey.ALTER_CONFIGS
    versions = range(3)

    def handle(self, request: Request, body: AlterConfigsRequest) -> None:
        changes = [
            ResourceChange(
                resource.resource_type,
                resource.resource_name,
                [Alteration(each.name, Operation.SET, each.value) for each in resource.configs],
                replaces=True,
            )
            for resource in body.resources
        ]

        def done(outcomes: list[Outcome]) -> None:
            request.reply(AlterConfigsResponse(responses=_responses(changes, outcomes)))

        allows = partial(self._allows, request)
        self._admin.alter(changes, allows, only_check=body.validate_only, done=done)


class IncrementalAlterConfigs(_Altering[IncrementalAlterConfigsRequest]):
    key = ApiKey.INCREMENTAL_ALTER_CONFIGS
    versions = range(2)

    def handle(self, request: Request, body: IncrementalAlterConfigsRequest) -> None:
        changes = [
            ResourceChange(
                resource.resource_type,
                resource.resource_name,
                [
                    Alteration(each.name, each.config_operation, each.value)
                    for each in resource.configs
                ],
            )
            for resource in body.resources
        ]

        def done(outcomes: list[Outcome]) -> None:
            responses = _responses(changes, outcomes)
            request.reply(IncrementalAlterConfigsResponse(responses=responses))

        allows = partial(self._allows, request)
        self._admin.alter(changes, allows, only_check=body.validate_only, done=done)


def _responses(
    changes: Sequence[ResourceChange], outcomes: Sequence[Outcome]
) -> list[AlterConfigsResourceResponse]:
    return [
        AlterConfigsResourceResponse(
            error_code=ErrorCode.NONE if refused is None else refused.code,
            error_message=None if refused is None else refused.message,
            resource_type=change.type,
            resource_name=change.name,
        )
        for change, refused in zip(changes, outcomes, strict=True)
    ]
