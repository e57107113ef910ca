"""The group.* keys of classic groups."""

from __future__ import annotations

from logquake.node.coordinators.groups.membership.settings import GroupSettings
from logquake.node.settings.reader import PropertyReader


def read_groups(reader: PropertyReader) -> GroupSettings:
    """Raises SettingsError. A range of session time-outs without any is one, as in Kafka."""
    default = GroupSettings()
    return GroupSettings(
        min_session_timeout_ms=reader.integer(
            "group.min.session.timeout.ms", default.min_session_timeout_ms
        ),
        max_session_timeout_ms=reader.integer(
            "group.max.session.timeout.ms", default.max_session_timeout_ms
        ),
        max_size=reader.integer("group.max.size", default.max_size, minimum=1),
        initial_rebalance_delay_ms=reader.integer(
            "group.initial.rebalance.delay.ms", default.initial_rebalance_delay_ms
        ),
    )
