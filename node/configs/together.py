"""What a broker's settings must be together, whichever of them changes (KafkaConfig).

Only what dynamic keys can break; server.properties as a whole is read in node/settings.
"""

from __future__ import annotations

from logquake.controller.rules.config_def import InvalidValue, parse_whole
from logquake.node.configs.layers import Properties, number_of
from logquake.node.configs.topic_settings import retention_ms, roll_jitter_ms, roll_ms

_MIB = 1024 * 1024
_OVERRIDES = "max.connections.per.ip.overrides"


def check_together(originals: Properties) -> None:
    """Raises InvalidValue."""
    overrides = per_ip_overrides(originals)
    _require(roll_ms(originals) >= 1, "log.roll.ms must be greater than or equal to 1")
    _require(
        roll_jitter_ms(originals) >= 0, "log.roll.jitter.ms must be greater than or equal to 0"
    )
    kept_ms = retention_ms(originals)
    _require(
        kept_ms >= 1 or kept_ms == -1,
        "log.retention.ms must be unlimited (-1) or, greater than or equal to 1",
    )
    _require(
        _dedupe_bytes(originals) > _MIB,
        "log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.",
    )
    if number_of(originals, "max.connections.per.ip") == 0:
        _require(
            bool(overrides),
            f"max.connections.per.ip can be set to zero only if {_OVERRIDES} property is set.",
        )


def per_ip_overrides(originals: Properties) -> dict[str, int]:
    """Connections by address. Raises InvalidValue."""
    overrides = {}
    text = originals.get(_OVERRIDES, "").strip()
    for pair in text.split(",") if text else ():
        address, colon, number = pair.strip().rpartition(":")
        if not colon:
            fault = f"begin 0, end -1, length {len(number)}"
            raise InvalidValue(f"Error parsing configuration property '{_OVERRIDES}': {fault}")
        bound = parse_whole(number.strip())
        if bound is None:
            raise InvalidValue(f'For input string: "{number.strip()}"')
        overrides[address.strip()] = bound
    return overrides


def _dedupe_bytes(originals: Properties) -> int:
    """Of one cleaner thread."""
    threads = number_of(originals, "log.cleaner.threads")
    if not threads:
        raise InvalidValue("/ by zero")
    return (number_of(originals, "log.cleaner.dedupe.buffer.size") or 0) // threads


def _require(holds: bool, rule: str) -> None:
    if not holds:
        raise InvalidValue(f"requirement failed: {rule}")
