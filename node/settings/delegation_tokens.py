"""delegation.token.*: the brokers' secret key, and how long tokens are good."""

from __future__ import annotations

from logquake.node.authentication.tokens import TokenSettings
from logquake.node.settings.reader import PropertyReader


def read_delegation_tokens(reader: PropertyReader) -> TokenSettings:
    """The key's older name counts where the newer one is not set. Raises SettingsError."""
    default = TokenSettings()
    older = reader.optional("delegation.token.master.key")
    return TokenSettings(
        secret_key=reader.optional("delegation.token.secret.key") or older,
        max_lifetime_ms=reader.long(
            "delegation.token.max.lifetime.ms", default.max_lifetime_ms, minimum=1
        ),
        expiry_time_ms=reader.long(
            "delegation.token.expiry.time.ms", default.expiry_time_ms, minimum=1
        ),
        expiry_check_interval_ms=reader.long(
            "delegation.token.expiry.check.interval.ms",
            default.expiry_check_interval_ms,
            minimum=1,
        ),
    )
