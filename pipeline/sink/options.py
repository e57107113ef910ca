"""The options of a write, under the names of Spark's Kafka connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from logquake.pipeline.options.clients import Keys, admin_keys, parted, producer_keys
from logquake.pipeline.options.values import OptionError, choice

_KNOWN = (
    "deliveryGuarantee",
    "transactionalIdPrefix",
    "topic",
    "checkpointLocation",  # Spark's own; it hands all of a stream's options on
)
_GUARANTEES = {"at-least-once": False, "exactly-once": True}


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """``topic`` goes before a row's own. ``producer`` and ``admin`` are what clients are set to.

    ``prefix`` is of transactional ids: what the write is known by when it is run again.
    """

    producer: Keys = field(repr=False)  # there may be passwords
    admin: Keys = field(repr=False)
    topic: str | None = None
    is_exactly_once: bool = False
    prefix: str | None = (
        None  # None: of a stream the query's id, of a batch that is none of a stream's a new one
    )


def parse_write_options(options: Mapping[str, str]) -> WriteOptions:
    """Raises OptionError."""
    kafka, given = parted(options, _KNOWN)
    is_exactly_once = choice(given, "deliveryGuarantee", _GUARANTEES, default=False)
    if "transactionalIdPrefix" in given and not is_exactly_once:
        raise OptionError("transactionalIdPrefix is for deliveryGuarantee exactly-once")
    return WriteOptions(
        producer_keys(kafka),
        admin_keys(kafka),
        topic=given.get("topic"),
        is_exactly_once=is_exactly_once,
        prefix=given.get("transactionalIdPrefix"),
    )
