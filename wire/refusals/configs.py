"""Refused: configurations and quotas."""

from __future__ import annotations

from collections.abc import Sequence

from logquake.wire.messages.configs import (
    AlterConfigsRequest,
    AlterConfigsResource,
    AlterConfigsResourceResponse,
    AlterConfigsResponse,
    DescribeConfigsRequest,
    DescribeConfigsResponse,
    DescribeConfigsResult,
    IncrementalAlterConfigsRequest,
    IncrementalAlterConfigsResource,
    IncrementalAlterConfigsResponse,
)
from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasResponse,
    AlterClientQuotasResponseEntryData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
)
from logquake.wire.refusals.refusal import Refusal, RefusalTable


def _alter_configs(body: AlterConfigsRequest, _version: int, why: Refusal) -> AlterConfigsResponse:
    return AlterConfigsResponse(responses=_altered(body.resources, why))


def _incremental_alter_configs(
    body: IncrementalAlterConfigsRequest, _version: int, why: Refusal
) -> IncrementalAlterConfigsResponse:
    return IncrementalAlterConfigsResponse(responses=_altered(body.resources, why))


def _altered(
    resources: Sequence[AlterConfigsResource | IncrementalAlterConfigsResource], why: Refusal
) -> list[AlterConfigsResourceResponse]:
    return [
        AlterConfigsResourceResponse(
            error_code=why.error,
            error_message=why.message,
            resource_type=each.resource_type,
            resource_name=each.resource_name,
        )
        for each in resources
    ]


def _describe_configs(
    body: DescribeConfigsRequest, _version: int, why: Refusal
) -> DescribeConfigsResponse:
    results = [
        DescribeConfigsResult(
            error_code=why.error,
            error_message=why.message,
            resource_type=each.resource_type,
            resource_name=each.resource_name,
        )
        for each in body.resources
    ]
    return DescribeConfigsResponse(results=results)


def _describe_quotas(
    _body: DescribeClientQuotasRequest, _version: int, why: Refusal
) -> DescribeClientQuotasResponse:
    return DescribeClientQuotasResponse(
        error_code=why.error, error_message=why.message, entries=None
    )


def _alter_quotas(
    body: AlterClientQuotasRequest, _version: int, why: Refusal
) -> AlterClientQuotasResponse:
    entries = [
        AlterClientQuotasResponseEntryData(
            error_code=why.error, error_message=why.message, entity=each.entity
        )
        for each in body.entries
    ]
    return AlterClientQuotasResponse(entries=entries)


REFUSALS: RefusalTable = {
    AlterConfigsRequest: _alter_configs,
    IncrementalAlterConfigsRequest: _incremental_alter_configs,
    DescribeConfigsRequest: _describe_configs,
    DescribeClientQuotasRequest: _describe_quotas,
    AlterClientQuotasRequest: _alter_quotas,
}
