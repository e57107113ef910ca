"""What limits anybody, as ZooKeeper has it: below /config/users, /config/clients, /config/ips."""

from __future__ import annotations

from collections.abc import Mapping

from logquake.node.configs.entities import read_kind
from logquake.node.quotas.alteration import QUOTA_KEYS

StoredQuotas = Mapping[str, Mapping[str, str]]
"""By path below /config; no user's secrets."""

_KINDS = ("users", "clients", "ips")


async def read_quotas() -> StoredQuotas:
    """Raises ZkFailure."""
    stored = {}
    for kind in _KINDS:
        for name, config in sorted((await read_kind(kind)).items()):
            quotas = {key: text for key, text in config.items() if key in QUOTA_KEYS}
            if quotas:
                stored[f"{kind}/{name}"] = quotas
    return stored
