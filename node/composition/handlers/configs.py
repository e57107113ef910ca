"""Configurations and quotas are described and altered."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.configs.admin import ConfigAdmin
from logquake.node.configs.loggers import Loggers
from logquake.node.quotas.administration import QuotaAdministration
from logquake.node.requests.alter_configs import AlterConfigs, IncrementalAlterConfigs
from logquake.node.requests.client_quotas import AlterClientQuotas, DescribeClientQuotas
from logquake.node.requests.describe_configs import DescribeConfigs
from logquake.node.requests.handler import Handler


def config_handlers(parts: Parts) -> list[Handler[Any]]:
    config, session, cache = parts.config, parts.session, parts.metadata
    loggers = Loggers(config.broker_id)
    admin = ConfigAdmin(config, loggers, session, cache.has_topic)
    quotas = QuotaAdministration(session, parts.outside.workers, parts.outside.address_of)
    return [
        DescribeConfigs(config, loggers, session, cache, parts.authorizer),
        AlterConfigs(admin, parts.authorizer),
        IncrementalAlterConfigs(admin, parts.authorizer),
        DescribeClientQuotas(quotas, parts.authorizer),
        AlterClientQuotas(quotas, parts.authorizer),
    ]
