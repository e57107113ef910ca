"""What clients of a test's cluster were told, and whether it still holds.

With links, their requests are watched on the way, whatever client it is. Without, a producer of
confluent-kafka can tell of itself: ``producer.produce(topic, value, on_delivery=
logquake.history.on_delivery)``.
"""

from __future__ import annotations

import shutil
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from logquake.chaos.card.card import Card
from logquake.chaos.card.limits import exceeded, limit_of
from logquake.chaos.card.measuring import card_of
from logquake.chaos.card.stored import stored_rows
from logquake.chaos.card.table import as_table
from logquake.chaos.history.reader import read_history
from logquake.chaos.history.rows import Kind, Row
from logquake.chaos.plugin.acked_loss import AckedBatch, AckedRecord, lost_of, reading_config
from logquake.cluster.api import Cluster
from logquake.cluster.errors import ClusterError
from logquake.cluster.running.deeds import Deed

_SHOWN = 10
_HARNESS = "harness"


class DeliveredMessage(Protocol):
    """confluent_kafka.Message."""

    def topic(self) -> str | None: ...
    def partition(self) -> int | None: ...
    def offset(self) -> int | None: ...
    def value(self) -> Any: ...


class ClientHistory:
    """Of one cluster; begin() forgets what was before."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self.file = cluster.layout.exchanges / "clients.jsonl"
        self._told: list[AckedRecord] = []

    @property
    def is_watched(self) -> bool:
        """Links can read what is not encrypted."""
        return self._cluster.spec.links and not self._cluster.spec.secure

    def begin(self) -> None:
        """Raises ClusterError."""
        self._told.clear()
        if self.is_watched:
            shutil.rmtree(self.file.parent, ignore_errors=True)
            self.file.parent.mkdir(parents=True)
            self._cluster.watch(self.file)

    def on_delivery(self, error: object | None, message: DeliveredMessage) -> None:
        """For clients of clusters without links: a delivery report of confluent-kafka."""
        topic, partition, offset = message.topic(), message.partition(), message.offset()
        if error is None and topic is not None and partition is not None and offset is not None:
            self._told.append(AckedRecord(topic, partition, offset, message.value()))

    def assert_no_acked_loss(self, topic: str | None = None) -> None:
        """Whatever a producer was acked is where it was said to be, in that topic or in all.

        Raises AssertionError with what is lost and what became of it, ClusterError where nobody
        knows what was acked, ClientError where topics can't be read.
        """
        acked = [one for one in self._acked() if topic in (None, one.topic)]
        if not acked:
            raise ClusterError(
                "no ack is known: start the cluster with links=True, or hand "
                "logquake.history.on_delivery to your producer"
            )
        lost = self.lost(topic)
        if lost:
            more = f"\nand {len(lost) - _SHOWN} more" if len(lost) > _SHOWN else ""
            raise AssertionError(
                f"{len(lost)} of {len(acked)} acked are lost:\n" + "\n".join(lost[:_SHOWN]) + more
            )

    def acked_count(self) -> int:
        """How many batches, as the links saw them, and records, as clients told."""
        return sum(1 for _ in self._acked())

    def lost(self, topic: str | None = None) -> list[str]:
        """What was acked and is not there, in words."""
        by_topic: dict[str, list[AckedBatch | AckedRecord]] = defaultdict(list)
        for one in self._acked():
            if topic in (None, one.topic):
                by_topic[one.topic].append(one)
        return [
            line
            for name, acked in sorted(by_topic.items())
            for line in lost_of(self._cluster, name, acked)
        ]

    def card(self) -> Card:
        """What each client did under each fault since the test began.

        Raises ClientError where a topic can't be read.
        """
        rows = [*self._rows(), *fault_rows(self._cluster.deeds.done), *self._stored()]
        return card_of(sorted(rows, key=lambda row: row.at_us))

    def assert_within(self, *limits: str) -> None:
        """``assert_within("duplicates=0", "unavailable_ms.produce=5000")``: else AssertionError.

        Raises ClusterError for a limit that is none.
        """
        card = self.card()
        complaints = list(exceeded(card, map(limit_of, limits)))
        if complaints:
            raise AssertionError("\n".join([*complaints, "", as_table(card)]))

    # Behind it

    def _rows(self) -> Iterator[Row]:
        yield from read_history([self.file] if self.file.exists() else [])

    def _stored(self) -> list[Row]:
        """What lies in topics twice, or late, as far as the links know whose it is."""
        topics = {one.topic for one in self._acked() if isinstance(one, AckedBatch)}
        if not topics:
            return []
        return stored_rows(reading_config(self._cluster), sorted(topics), self.file)

    def _acked(self) -> Iterator[AckedBatch | AckedRecord]:
        yield from self._told
        for row in self._rows():
            if row.subject == "Produce":
                yield from _acked_by(row)


def _acked_by(row: Row) -> Iterator[AckedBatch]:
    offsets = (row.after or {}).get("offsets", {})
    for partition, crc, records in row.before.get("batches", ()):
        if partition in offsets and row.key is not None:
            topic, _, number = partition.rpartition("-")
            yield AckedBatch(
                topic, int(number), offsets[partition], crc, records, row.key, row.at_us
            )


def fault_rows(deeds: Iterable[Deed]) -> Iterator[Row]:
    """What was done to a cluster, as the harness would have written it."""
    begun: dict[int, int] = {}
    for number, deed in enumerate(deeds, 1):
        if deed.stands:
            begun[id(deed)] = number
            kind, _, subject = deed.what.partition(" ")
            yield Row(deed.at_us, _HARNESS, number, Kind.FAULT_BEGUN, subject, after={"kind": kind})
        elif deed.heals is not None:
            yield Row(
                deed.at_us,
                _HARNESS,
                number,
                Kind.FAULT_ENDED,
                deed.what,
                caused_by=begun.get(id(deed.heals)),
            )
