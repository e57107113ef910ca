"""What may be ordered of a broker, as values that travel as JSON.

An order stands until it is healed. Several stand side by side: of a call on the disk every one that
concerns it strikes, in the order in which they were given.
"""

from __future__ import annotations

import errno
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar

from logquake.cluster.errors import ClusterError

READS = ("open", "read", "list")
CHANGES = ("create", "mkdir", "write", "truncate", "rename", "remove")
SYNCS = ("sync", "sync_dir")
CALLS = (*READS, *CHANGES, *SYNCS)
NEED_SPACE = ("create", "mkdir", "write")  # a sparse file is cut and extended without any


@dataclass(frozen=True, slots=True)
class DiskOrder:
    """Concerns calls of these kinds on files whose path, or whose end of it, ``path`` matches.

    ``path`` is a shell's pattern whose * takes slashes too: ``*.log``, ``orders-0/*``. It strikes
    from the ``nth`` such call on (1: the next), ``times`` often, for as long as it stands if None.
    Each process counts its own calls.
    """

    calls: tuple[str, ...] = CALLS
    path: str = "*"
    nth: int = 1
    times: int | None = None

    def __post_init__(self) -> None:
        unknown = set(self.calls) - set(CALLS)
        if unknown or not self.calls:
            raise ClusterError(
                f"no call {min(unknown, default='')!r}: choose of {', '.join(CALLS)}"
            )
        if self.nth < 1 or (self.times is not None and self.times < 1):
            raise ClusterError(f"calls are counted from 1 on, not from {self.nth}")


@dataclass(frozen=True, slots=True)
class FailCalls(DiskOrder):
    """The call is not made and raises OSError; EIO comes after the first half of a write."""

    kind: ClassVar = "fail-calls"
    error: str = "EIO"

    def __post_init__(self) -> None:
        DiskOrder.__post_init__(self)
        if self.error not in errno.errorcode.values():
            raise ClusterError(f"no error {self.error!r}: write EIO, ENOSPC, EROFS, ...")

    @property
    def number(self) -> int:
        number: int = getattr(errno, self.error)
        return number


@dataclass(frozen=True, slots=True)
class SlowCalls(DiskOrder):
    """The thread that calls waits first, as behind a disk that is busy."""

    kind: ClassVar = "slow-calls"
    delay_ms: float = 0


@dataclass(frozen=True, slots=True)
class DieAtCall(DiskOrder):
    """The process ends as by kill -9: before the call, of a write after its first half.

    The order is over with the process, however that ends: the next one would never get far.
    """

    kind: ClassVar = "die-at-call"


@dataclass(frozen=True, slots=True)
class SkewClock:
    """The wall clock is ``ms`` off, and off by ``drift_ppm`` microseconds a second more."""

    kind: ClassVar = "skew-clock"
    ms: int = 0
    drift_ppm: float = 0

    def offset_ms(self, elapsed_ms: int) -> float:
        """``elapsed_ms`` since the order."""
        return self.ms + elapsed_ms * self.drift_ppm / 1_000_000


@dataclass(frozen=True, slots=True)
class StrobeClock:
    """The wall clock jumps by ``ms`` at once, back after ``every_ms``, and so on."""

    kind: ClassVar = "strobe-clock"
    ms: int
    every_ms: int

    def __post_init__(self) -> None:
        if self.every_ms < 1:
            raise ClusterError(f"a clock cannot jump every {self.every_ms} ms")

    def offset_ms(self, elapsed_ms: int) -> float:
        return 0 if elapsed_ms // self.every_ms % 2 else self.ms


@dataclass(frozen=True, slots=True)
class SlowStart:
    """A process that is started does nothing for so long first."""

    kind: ClassVar = "slow-start"
    delay_ms: int


@dataclass(frozen=True, slots=True)
class Starve:
    """The process is stopped for a share of the time, in slices that follow from the seed."""

    kind: ClassVar = "starve"
    share: float
    seed: int = 0
    shortest_ms: int = 50
    longest_ms: int = 400

    def __post_init__(self) -> None:
        if not 0 < self.share < 1:
            raise ClusterError(f"a share of {self.share:g} cannot be stopped: write 0.1 to 0.9")
        if not 0 < self.shortest_ms <= self.longest_ms:
            raise ClusterError(f"no slices of {self.shortest_ms} to {self.longest_ms} ms")


@dataclass(frozen=True, slots=True)
class Limit:
    """A soft resource limit: ``memory`` in bytes of address space, or how many open ``files``."""

    kind: ClassVar = "limit"
    resource: str
    limit: int

    def __post_init__(self) -> None:
        if self.resource not in LIMITED:
            raise ClusterError(f"no limit of {self.resource!r}: choose {' or '.join(LIMITED)}")


@dataclass(frozen=True, slots=True)
class Route:
    """Nothing that is broken: who is told to dial a broker at one HOST:PORT dials another.

    It leads to a proxy that was laid after this process began.
    """

    kind: ClassVar = "route"
    told: str
    dialled: str


LIMITED = ("memory", "files")

ClockOrder = SkewClock | StrobeClock
InsideOrder = (
    FailCalls | SlowCalls | DieAtCall | SkewClock | StrobeClock | Limit | SlowStart | Route
)
"""Those that a broker itself carries out."""
Order = InsideOrder | Starve
"""That one its supervisor does to its process."""

_KINDS: dict[str, type[Order]] = {
    one.kind: one
    for one in (
        FailCalls,
        SlowCalls,
        DieAtCall,
        SkewClock,
        StrobeClock,
        SlowStart,
        Starve,
        Limit,
        Route,
    )
}

_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "int | None": (int, type(None)),
    "float": (int, float),
    "str": (str,),
    "tuple[str, ...]": (tuple,),
}


def to_json(order: Order) -> dict[str, Any]:
    return {"kind": order.kind, **asdict(order)}


def from_json(document: object) -> Order:
    """Raises ClusterError for what is no order."""
    if not isinstance(document, Mapping):
        raise ClusterError(f"an order is an object, not {document!r}")
    kind = str(document.get("kind"))
    if kind not in _KINDS:
        raise ClusterError(f"no order {kind!r}: choose of {', '.join(_KINDS)}")
    told = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in document.items()
        if name != "kind"
    }
    make: Callable[..., Order] = _KINDS[kind]
    try:
        _check_types(_KINDS[kind], told)
        return make(**told)
    except TypeError as error:
        raise ClusterError(f"{kind}: {error}") from None


def _check_types(kind: type[Order], told: Mapping[str, Any]) -> None:
    """Raises TypeError. A wrong type would be met later, where it ends a broker."""
    for one in fields(kind):
        if one.name in told and not isinstance(told[one.name], _TYPES[str(one.type)]):
            raise TypeError(f"{one.name}={told[one.name]!r} is no {one.type}")


def described(order: Order) -> str:
    """``slow-calls calls=write,sync path=* nth=1 delay_ms=5``."""
    told = [f"{name}={_word(value)}" for name, value in asdict(order).items() if value is not None]
    return " ".join([order.kind, *told])


def _word(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
