"""Which links there are: who dials whom, and at which address the proxy between them listens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

Address = tuple[str, int]


@dataclass(frozen=True, slots=True)
class Link:
    """``dialler`` connects to ``listens``, and is put through to ``dialled`` at ``leads_to``.

    ``carries_requests``: Kafka's, in the open, so that they can be read on their way.
    """

    dialler: str
    dialled: str
    listens: Address
    leads_to: Address
    carries_requests: bool = True


@dataclass(frozen=True, slots=True)
class LinkPlan:
    links: tuple[Link, ...]

    @property
    def ends(self) -> frozenset[str]:
        return frozenset(end for link in self.links for end in (link.dialler, link.dialled))

    def of(self, end: str) -> LinkPlan:
        """Those that end there."""
        return LinkPlan(tuple(link for link in self.links if end in (link.dialler, link.dialled)))

    def to_json(self) -> list[dict[str, Any]]:
        return [asdict(link) for link in self.links]

    @classmethod
    def from_json(cls, document: Sequence[dict[str, Any]]) -> LinkPlan:
        """As to_json() wrote it."""
        return cls(
            tuple(
                Link(
                    **{
                        **link,
                        "listens": tuple(link["listens"]),
                        "leads_to": tuple(link["leads_to"]),
                    }
                )
                for link in document
            )
        )
