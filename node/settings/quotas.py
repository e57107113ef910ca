"""Over what time the use of clients with quotas is measured (QuotaConfigs)."""

from __future__ import annotations

from logquake.node.quotas.measures import Windows
from logquake.node.quotas.quotas import QuotaSettings
from logquake.node.settings.reader import PropertyReader


def read_quotas(reader: PropertyReader) -> QuotaSettings:
    """Raises SettingsError."""
    return QuotaSettings(
        windows=read_windows(reader, "quota.window"),
        controller_windows=read_windows(reader, "controller.quota.window"),
        max_clients=reader.integer("logquake.quota.max.clients", 10_000, minimum=1),
    )


def read_windows(reader: PropertyReader, prefix: str) -> Windows:
    """Raises SettingsError."""
    return Windows(
        samples=reader.integer(f"{prefix}.num", 11, minimum=1),
        length_ms=reader.integer(f"{prefix}.size.seconds", 1, minimum=1) * 1_000,
    )
