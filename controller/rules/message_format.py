"""Which values message.format.version takes (Kafka's MetadataVersionValidator).

The key has had no effect since 3.0, but a value that is no version is refused.
"""

from __future__ import annotations

# Every release, with the last of its internal versions where it had some.
_RELEASES = """
    0.8.0 0.8.1 0.8.2 0.9.0 0.10.0-IV1 0.10.1-IV2 0.10.2-IV0 0.11.0-IV2 1.0-IV0 1.1-IV0 2.0-IV1
    2.1-IV2 2.2-IV1 2.3-IV1 2.4-IV1 2.5-IV0 2.6-IV0 2.7-IV2 2.8-IV1 3.0-IV1 3.1-IV0 3.2-IV0 3.3-IV3
    3.4-IV0 3.5-IV2 3.6-IV2 3.7-IV4 3.8-IV0 3.9-IV0
"""
_LAST_INTERNAL = {
    release: last for release, _, last in (one.partition("-IV") for one in _RELEASES.split())
}
_IN_DEVELOPMENT = {"4.0-IV0", "4.0-IV1"}


def is_version(value: str) -> bool:
    """A release, with or without its patch number or the number of an internal version."""
    segments = 3 if value.startswith("0.") else 2
    named = ".".join(value.split(".")[:segments])
    release, dash, internal = named.partition("-")
    if release not in _LAST_INTERNAL:
        return named in _IN_DEVELOPMENT
    last = int(_LAST_INTERNAL[release] or -1)
    return not dash or internal in (f"IV{number}" for number in range(last + 1))
