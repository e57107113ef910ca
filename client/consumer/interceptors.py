"""The program's interceptors, called with records and commits (ConsumerInterceptors).

They run within the program's own calls, without the consumer's lock.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from logquake.client.callbacks import close_own, fails_alone, those_with
from logquake.client.consumer.group.listener import Offsets
from logquake.client.consumer.records import ConsumerRecords

_LOG = logging.getLogger(__name__)


class ConsumerInterceptor:
    """Override what you need (KIP-42). Exceptions are logged, and otherwise ignored."""

    def on_consume(self, records: ConsumerRecords, /) -> ConsumerRecords:
        """Called before records are returned; the program gets what this returns instead."""
        return records

    def on_commit(self, offsets: Offsets, /) -> None:
        """Called after these offsets were committed."""

    def close(self) -> None:
        """Called when the consumer closes."""


class Interceptors:
    """Called in the given order, each with what the previous one returned."""

    def __init__(self, interceptors: Sequence[ConsumerInterceptor]) -> None:
        self._interceptors = interceptors
        self._on_consume = those_with("on_consume", interceptors)
        self._on_commit = those_with("on_commit", interceptors)

    @property
    def any(self) -> bool:
        return bool(self._interceptors)

    def on_consume(self, records: ConsumerRecords) -> ConsumerRecords:
        for each in self._on_consume:
            try:
                records = _as_records(each.on_consume(records))
            except Exception:  # noqa: BLE001 (the program's own: whatever it raises)
                _LOG.exception("an interceptor failed on records")
        return records

    def on_commit(self, offsets: Offsets) -> None:
        for each in self._on_commit:
            try:
                each.on_commit(offsets)
            except BaseException as error:
                if not fails_alone(error):
                    raise
                _LOG.exception("an interceptor failed on a commit")

    def close(self) -> None:
        for each in self._interceptors:
            close_own(each)


def _as_records(given: object) -> ConsumerRecords:
    if not isinstance(given, ConsumerRecords):
        raise TypeError(f"on_consume gives {given!r:.100}, and no ConsumerRecords")
    return given
