"""Who asked what, and what they were answered: each exchange as a line of a history.

A ``Watch`` is begun and healed like a fault, and does nothing to anybody. What it writes are rows
as `chaos/history/rows.py` has them, of the kind "exchanged", one when an answer goes on to who
asked, or when it is certain that none will; telling.py says what is in them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.effects import CLIENTS, means
from logquake.cluster.links.requests.reading import ReadRequest
from logquake.cluster.links.requests.telling import told_of_answer, told_of_request
from logquake.wire.api import ApiKey, api_name

#: The kind of a watch where it is written down.
WATCH = "watch"
#: Of the rows that it writes.
PROCESS, EXCHANGED = "links", "exchanged"
UNANSWERED = "no answer"


@dataclass(frozen=True, slots=True)
class Watch:
    """Write what ``sources`` ask into ``file``, which is not there yet."""

    file: str
    sources: tuple[str, ...] = (CLIENTS,)

    @property
    def ends(self) -> frozenset[str]:
        return frozenset(self.sources)

    @property
    def path(self) -> str:
        """From whom to whom, in words."""
        return f"{','.join(self.sources)} -> anyone"

    def is_on(self, dialler: str, _dialled: str) -> bool:
        return any(means(name, dialler) for name in self.sources)

    def __str__(self) -> str:
        return f"what {','.join(self.sources)} ask is written down"

    def to_json(self) -> dict[str, Any]:
        return {"kind": WATCH, "file": self.file, "sources": self.sources}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Watch:
        """Raises ClusterError."""
        try:
            return cls(str(document["file"]), tuple(document["sources"]))
        except (KeyError, TypeError) as error:
            raise ClusterError(f"nothing to be watched: {dict(document)}") from error

    def make_file(self) -> None:
        """Raises ClusterError: it is there already, or cannot be made."""
        try:
            Path(self.file).touch(exist_ok=False)
        except OSError as error:
            raise ClusterError(f"no exchanges can be written to {self.file}: {error}") from error


class Watches:
    """Those that hold, on all connections. ``now_us`` is the wall clock."""

    def __init__(self, now_us: Callable[[], int]) -> None:
        self.now_us = now_us
        self.connections = count(1)
        self._logs: dict[int, _ExchangeLog] = {}

    def hold(self, watches: Mapping[int, Watch]) -> None:
        """These, by their ids, and no others."""
        for watch_id in self._logs.keys() - watches.keys():
            self._logs.pop(watch_id).close()
        for watch_id in watches.keys() - self._logs.keys():
            self._logs[watch_id] = _ExchangeLog(watches[watch_id])

    def concern(self, dialler: str, dialled: str) -> bool:
        """Whether anybody wants to know what is asked there."""
        return any(log.watch.is_on(dialler, dialled) for log in self._logs.values())

    def write(self, dialler: str, dialled: str, row: Mapping[str, Any]) -> None:
        for log in self._logs.values():
            if log.watch.is_on(dialler, dialled):
                log.write(row)


class _ExchangeLog:
    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self._sequence = 0
        self._fd = os.open(watch.file, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)

    def write(self, row: Mapping[str, Any]) -> None:
        """At once: whoever looks on sees it, and a cluster that is killed leaves it."""
        self._sequence += 1
        numbered = {**row, "sequence": self._sequence}
        os.write(self._fd, json.dumps(numbered, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        os.close(self._fd)


@dataclass(frozen=True, slots=True, eq=False)
class Sighting:
    """A request that was seen, and is not answered yet."""

    asked_us: int
    request: ReadRequest


class Witness:
    """Of one connection."""

    def __init__(self, watches: Watches, dialler: str, dialled: str) -> None:
        self._watches = watches
        self._dialler = dialler
        self._dialled = dialled
        self._connection = next(watches.connections)
        self._open: dict[Sighting, None] = {}  # in the order of requests

    def asked(self, request: ReadRequest) -> Sighting | None:
        """None where nobody watches."""
        if not self._watches.concern(self._dialler, self._dialled):
            return None
        sighting = Sighting(self._watches.now_us(), request)
        if request.wants_answer:
            self._open[sighting] = None
        else:
            self._write(sighting, {}, None)
        return sighting

    def answered(self, sighting: Sighting | None, frame: bytes) -> None:
        """Who asked gets this."""
        if sighting is not None and sighting in self._open:
            del self._open[sighting]
            header = sighting.request.header
            after = told_of_answer(header.api_key, header.api_version, frame)
            self._write(sighting, after, None)

    def over(self) -> None:
        """The connection is: nothing that was asked is answered any more."""
        for sighting in self._open:
            self._write(sighting, None, UNANSWERED)
        self._open.clear()

    def _write(self, sighting: Sighting, after: Mapping[str, Any] | None, why: str | None) -> None:
        header = sighting.request.header
        row = {
            "at_us": self._watches.now_us(),
            "process": PROCESS,
            "what": EXCHANGED,
            "subject": _name_of(header.api_key),
            "key": header.client_id,
            "before": {
                "asked_us": sighting.asked_us,
                "connection": self._connection,
                "to": self._dialled,
                "version": header.api_version,
                **told_of_request(sighting.request),
            },
            "after": after,
            "why": why,
        }
        self._watches.write(self._dialler, self._dialled, row)


def _name_of(api_key: int) -> str:
    return api_name(ApiKey(api_key)) if api_key in set(ApiKey) else f"API {api_key}"
