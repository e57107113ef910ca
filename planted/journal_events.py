"""What a broker with a planted bug records."""

from __future__ import annotations

from logquake.seams.journal import EventKind

BUG_PLANTED = EventKind(
    "bug-planted",
    cause="LOGQUAKE_PLANTED_BUG was set where this broker was started: it is wrong on purpose.",
    remedy="Where that is a surprise, unset it and start the cluster again: what it acks is lost.",
)
