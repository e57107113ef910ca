"""Ids that were given to members who have not come back with them yet (KIP-394)."""

from __future__ import annotations

from heapq import heappop, heappush


class PendingMembers:
    """Each has a deadline, which bounds how many there are by how fast they are asked for: a client
    may ask for many, and never come back. So nothing here looks at all of them.
    """

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._deadlines: list[tuple[int, str]] = []  # a heap; also of ids that are gone

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, member_id: str) -> bool:
        return member_id in self._ids

    def add(self, member_id: str, deadline_ms: int) -> None:
        """An id that nobody had before."""
        self._ids.add(member_id)
        heappush(self._deadlines, (deadline_ms, member_id))

    def discard(self, member_id: str) -> None:
        self._ids.discard(member_id)

    @property
    def next_deadline_ms(self) -> int | None:
        """Of the first that is waited for."""
        while self._deadlines and self._deadlines[0][1] not in self._ids:
            heappop(self._deadlines)
        return self._deadlines[0][0] if self._deadlines else None

    def overdue(self, now_ms: int) -> str | None:
        """The first of those that were waited for long enough."""
        deadline_ms = self.next_deadline_ms
        if deadline_ms is None or deadline_ms > now_ms:
            return None
        return self._deadlines[0][1]
