"""Quotas of users, client ids and addresses (KIP-546)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypeAlias

from logquake.client.admin.asking.asks import ANYBODY, Ask, Asks, Reply, fixed
from logquake.client.admin.asking.refusals import refusal
from logquake.client.admin.asking.results import Results
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    EntityData,
    OpData,
)

USER = "user"  # ClientQuotaEntity.USER etc.
CLIENT_ID = "client-id"
IP = "ip"


class ClientQuotaEntity(frozenset[tuple[str, str | None]]):
    """To whom a quota applies, by type: ``ClientQuotaEntity.of({"user": "alice"})``.

    The name None is the default, for all that have no quota of their own.
    """

    @classmethod
    def of(cls, entries: Mapping[str, str | None]) -> ClientQuotaEntity:
        return cls(entries.items())

    @property
    def entries(self) -> dict[str, str | None]:
        return dict(sorted(self))


ClientQuotas: TypeAlias = Mapping[ClientQuotaEntity, Mapping[str, float]]
"""By entity and key."""


class _Match(IntEnum):
    EXACT = 0
    DEFAULT = 1
    ANY = 2


@dataclass(frozen=True, slots=True)
class ClientQuotaFilterComponent:
    """Matches that name, the default (None), or, with ``is_any``, any name with a quota."""

    entity_type: str
    name: str | None = None
    is_any: bool = False

    @property
    def match(self) -> _Match:
        if self.is_any:
            return _Match.ANY
        return _Match.DEFAULT if self.name is None else _Match.EXACT


@dataclass(frozen=True, slots=True)
class ClientQuotaFilter:
    """All components must match; ``strict`` excludes entities that have further types."""

    components: tuple[ClientQuotaFilterComponent, ...] = ()
    strict: bool = False


class ClientQuotaOp(NamedTuple):
    """``value`` None removes the quota."""

    key: str
    value: float | None


def describe_client_quotas(wanted: ClientQuotaFilter, results: Results[None, ClientQuotas]) -> Asks:
    request = DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=each.entity_type, match_type=each.match, match=each.name)
            for each in wanted.components
        ],
        strict=wanted.strict,
    )
    reply: Reply[DescribeClientQuotasResponse] = yield Ask(
        ANYBODY, DescribeClientQuotasResponse, fixed(request)
    )
    answer = reply.message
    error = refusal(answer.error_code, "client quotas", answer.error_message)
    quotas = {
        _entity(each.entity): {value.key: value.value for value in each.values}
        for each in answer.entries or []
    }
    results.settle(None, error or quotas)


def _entity(told: Iterable[EntityData]) -> ClientQuotaEntity:
    return ClientQuotaEntity((each.entity_type, each.entity_name) for each in told)


def alter_client_quotas(
    changes: Mapping[ClientQuotaEntity, Sequence[ClientQuotaOp]],
    results: Results[ClientQuotaEntity, None],
    *,
    validate_only: bool,
) -> Asks:
    request = AlterClientQuotasRequest(
        entries=[_alteration(entity, ops) for entity, ops in changes.items()],
        validate_only=validate_only,
    )
    reply: Reply[AlterClientQuotasResponse] = yield Ask(
        ANYBODY, AlterClientQuotasResponse, fixed(request)
    )
    for told in reply.message.entries:
        entity = _entity(told.entity)
        error = refusal(told.error_code, f"quotas of {entity.entries}", told.error_message)
        results.settle(entity, error)


def _alteration(
    entity: ClientQuotaEntity, ops: Sequence[ClientQuotaOp]
) -> AlterClientQuotasRequestEntryData:
    return AlterClientQuotasRequestEntryData(
        entity=[
            EntityData(entity_type=kind, entity_name=name) for kind, name in entity.entries.items()
        ],
        ops=[OpData(key=op.key, value=op.value or 0.0, remove=op.value is None) for op in ops],
    )
