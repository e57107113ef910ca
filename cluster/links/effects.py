"""What can be done to links, as values, and what several of them come to for one direction.

A fault acts on directions: on bytes from one end to another, whoever of the two has dialled. Ends
have names: broker-2, clients, zookeeper-1; ``zookeeper`` means every server.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from logquake.cluster.errors import ClusterError
from logquake.cluster.state import ZOOKEEPER

CLIENTS = "clients"


@dataclass(frozen=True, slots=True)
class Cut:
    """Bytes stay where they are; new connections get no answer."""

    def __str__(self) -> str:
        return "cut"


@dataclass(frozen=True, slots=True)
class Reset:
    """Connections are reset at both ends; new ones are refused."""

    def __str__(self) -> str:
        return "reset"


@dataclass(frozen=True, slots=True)
class Delay:
    """Each byte arrives ``ms`` later, give or take up to ``jitter_ms``; none overtakes another."""

    ms: float
    jitter_ms: float = 0

    def __post_init__(self) -> None:
        if self.ms < 0 or self.jitter_ms < 0:
            raise ClusterError(f"a delay of {self.ms:g} ms, {self.jitter_ms:g} ms: of 0 or more")

    def __str__(self) -> str:
        jitter = f" +-{self.jitter_ms:g} ms" if self.jitter_ms else ""
        return f"delay {self.ms:g} ms{jitter}"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most so many bytes a second, each connection by itself."""

    bytes_per_s: float

    def __post_init__(self) -> None:
        if self.bytes_per_s <= 0:
            raise ClusterError(f"a rate of {self.bytes_per_s:g} bytes a second: above 0, or cut")

    def __str__(self) -> str:
        return f"rate {self.bytes_per_s:g} B/s"


@dataclass(frozen=True, slots=True)
class DropAfter:
    """A connection is reset once ``size_bytes`` more have passed."""

    size_bytes: int

    def __post_init__(self) -> None:
        if self.size_bytes < 0:
            raise ClusterError(f"drop after {self.size_bytes} bytes: 0 or more")

    def __str__(self) -> str:
        return f"drop after {self.size_bytes} bytes"


@dataclass(frozen=True, slots=True)
class HalfOpen:
    """That the source closed or reset a connection, or died, is not told."""

    def __str__(self) -> str:
        return "half-open"


Effect: TypeAlias = Cut | Reset | Delay | Rate | DropAfter | HalfOpen

_KINDS: Mapping[str, type[Effect]] = {
    "cut": Cut,
    "reset": Reset,
    "delay": Delay,
    "rate": Rate,
    "drop": DropAfter,
    "half-open": HalfOpen,
}
_NAMES = {kind: name for name, kind in _KINDS.items()}


@dataclass(frozen=True, slots=True)
class Path:
    """Directions: from each of the sources to each of the targets."""

    sources: tuple[str, ...]
    targets: tuple[str, ...]

    def covers(self, source: str, target: str) -> bool:
        return _is_any(source, self.sources) and _is_any(target, self.targets)

    def reversed(self) -> Path:
        return Path(self.targets, self.sources)

    def __str__(self) -> str:
        return f"{','.join(self.sources)} -> {','.join(self.targets)}"


@dataclass(frozen=True, slots=True)
class LinkFault:
    """One effect on any number of directions."""

    effect: Effect
    paths: tuple[Path, ...]

    def acts_on(self, source: str, target: str) -> bool:
        return any(path.covers(source, target) for path in self.paths)

    @property
    def ends(self) -> frozenset[str]:
        return frozenset(
            end for path in self.paths for ends in (path.sources, path.targets) for end in ends
        )

    def __str__(self) -> str:
        return f"{self.effect}: {'; '.join(map(str, self.paths))}"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": _NAMES[type(self.effect)],
            **asdict(self.effect),
            "paths": [[list(path.sources), list(path.targets)] for path in self.paths],
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> LinkFault:
        """Raises ClusterError."""
        values = dict(document)
        try:
            effect = _KINDS[values.pop("kind")]
            paths = [
                Path(tuple(sources), tuple(targets)) for sources, targets in values.pop("paths")
            ]
            return cls(effect(**values), tuple(paths))
        except (KeyError, TypeError, ValueError) as error:
            raise ClusterError(f"no fault of links: {dict(document)}") from error


@dataclass(frozen=True, slots=True)
class Conditions:
    """What holds for one direction, all faults taken together."""

    is_cut: bool = False
    delay_ms: float = 0
    jitter_ms: float = 0
    bytes_per_s: float | None = None
    # Bytes that a connection may pass from when the fault came, by the fault's id.
    drop_after: tuple[tuple[int, int], ...] = ()
    keeps_ends: bool = False


CLEAR = Conditions()


def together(effects: Iterable[tuple[int, Effect]]) -> Conditions:
    """Effects with their faults' ids: delays add up, of rates the lowest counts."""
    found = list(effects)
    delays = [each for _, each in found if isinstance(each, Delay)]
    rates = [each.bytes_per_s for _, each in found if isinstance(each, Rate)]
    return Conditions(
        is_cut=any(isinstance(each, Cut) for _, each in found),
        delay_ms=sum(each.ms for each in delays),
        jitter_ms=sum(each.jitter_ms for each in delays),
        bytes_per_s=min(rates, default=None),
        drop_after=tuple(
            (fault_id, each.size_bytes) for fault_id, each in found if isinstance(each, DropAfter)
        ),
        keeps_ends=any(isinstance(each, HalfOpen) for _, each in found),
    )


def means(name: str, end: str) -> bool:
    """Whether a fault that says ``name`` means this end of a link."""
    return name == end or (name == ZOOKEEPER and end.startswith(f"{ZOOKEEPER}-"))


def _is_any(end: str, names: tuple[str, ...]) -> bool:
    return any(means(name, end) for name in names)
