"""How many descriptors this process may have: as many as the system lets it, as Java does it."""

from __future__ import annotations

import resource

_ENOUGH = 1 << 20


def raise_limit() -> int:
    """Raise the soft limit as far as the hard one allows; the limit that holds."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _ENOUGH if hard == resource.RLIM_INFINITY else min(hard, _ENOUGH)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        return wanted
    return _ENOUGH if soft == resource.RLIM_INFINITY else soft


def open_segments(asked: int, limit: int) -> int:
    """At most half of the limit for segments: the rest is for connections and index files."""
    return max(1, min(asked, limit // 2))
