"""What the brokers' journals say of brokers that nothing had been done to."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SESSION_EVENTS = ("zookeeper-disconnected", "zookeeper-session-expired")


class Journals:
    """The events of all brokers, each seen once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._seen: dict[Path, int] = {}

    def spurious(self, struck: int) -> Counter[str]:
        """Since the last look: sessions that were lost, ISRs that shrank by others than the struck.

        A broker that is struck says nothing by that of a machine that is slow.
        """
        found: Counter[str] = Counter()
        for event in self._new_events():
            if event["what"] in SESSION_EVENTS and event["broker"] != struck:
                found[event["what"]] += 1
            elif event["what"] == "isr-proposed":
                gone = set(event["before"]) - set(event["after"])
                found["isr-shrink"] += bool(gone - {struck})
        return found

    def _new_events(self) -> Iterator[dict[str, Any]]:
        for path in sorted(self._folder.glob("*.jsonl")):
            *lines, _ = path.read_bytes().split(b"\n")
            for line in lines[self._seen.get(path, 0) :]:
                yield json.loads(line)
            self._seen[path] = len(lines)
