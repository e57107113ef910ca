"""Times on the command line: how long, and when."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from logquake.cluster.errors import ClusterError

_UNIT_MS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000, "w": 604_800_000}
_SHORT = re.compile(r"(\d+)(ms|s|m|h|d|w)")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)?")
_ISO = re.compile(r"P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d{1,3})?)S)?)?")


def seconds(text: str) -> float:
    """``30``, ``30s``, ``500ms``, ``5m`` or ``1.5h``. Raises ClusterError."""
    written = _SECONDS.fullmatch(text)
    if written is None:
        raise ClusterError(f"{text!r} is no time: write 500ms, 30s or 5m")
    return float(written[1]) * _UNIT_MS[written[2] or "s"] / _UNIT_MS["s"]


def duration_ms(text: str) -> int:
    """``90s``, ``2h``, or as Kafka's tools have it: ``P1DT2H30M``. Raises ClusterError."""
    if short := _SHORT.fullmatch(text):
        return int(short[1]) * _UNIT_MS[short[2]]
    iso = _ISO.fullmatch(text)
    if iso is None or not any(iso.groups()):
        raise ClusterError(f"{text!r} is no duration: write 90s, 2h or P1DT2H")
    amounts = (float(amount or 0) for amount in iso.groups())
    return round(sum(a * _UNIT_MS[unit] for a, unit in zip(amounts, "dhms", strict=True)))


def moment_ms(text: str) -> int:
    """Unix milliseconds, or ``2026-01-31T12:00:00``, of UTC unless it says another zone.

    Raises ClusterError.
    """
    if text.isdecimal():
        return int(text)
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ClusterError(
            f"{text!r} is no time: write 2026-01-31T12:00:00 or milliseconds since 1970"
        ) from None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(aware.timestamp() * 1000)
