"""What was done to a cluster through one object, when, and which of it still stands.

A method that does something to a cluster is marked as a deed: each call is noted with its
arguments, and the fault that it returns is remembered until it is healed. DEEDS is every such
method by its name: what the control port serves.
"""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from logquake.cluster.running.fault import Fault

KEPT_DEEDS = 10_000

DEEDS: dict[str, Callable[..., object]] = {}


@dataclass(frozen=True, slots=True)
class Deed:
    """``stands``: a fault that lasts until a later deed ``heals`` it."""

    at_us: int  # wall clock
    what: str  # "kill leader:orders/0 (broker-2)"
    stands: bool = False
    heals: Deed | None = None

    def __str__(self) -> str:
        moment = datetime.fromtimestamp(self.at_us / 1_000_000).astimezone()
        return f"{moment:%H:%M:%S.%f}"[:-3] + f"  {self.what}"


class Deeds:
    """The last KEPT_DEEDS, oldest first, and the faults that stand."""

    def __init__(self, now_us: Callable[[], int] = lambda: time.time_ns() // 1000) -> None:
        self._now_us = now_us
        self._done: deque[Deed] = deque(maxlen=KEPT_DEEDS)
        self._standing: list[Fault] = []

    @property
    def done(self) -> tuple[Deed, ...]:
        return tuple(self._done)

    @property
    def standing(self) -> tuple[Fault, ...]:
        """Faults that nobody has healed, oldest first."""
        return tuple(self._standing)

    def note(self, what: str, *, stands: bool = False, heals: Deed | None = None) -> Deed:
        deed = Deed(self._now_us(), what, stands, heals)
        self._done.append(deed)
        return deed

    def begun(self, what: str, fault: Fault) -> None:
        """Note a fault, and its end when it comes."""
        what = f"{what} ({fault.member})"

        def healed() -> None:
            self._standing.remove(fault)
            self.note(f"healed: {what}", heals=begun)

        fault.on_healed = healed
        self._standing.append(fault)
        begun = self.note(what, stands=True)

    def heal(self) -> None:
        """Undo what stands, the newest first, without waiting for the effect.

        One that can't be undone does not keep the others from it. Raises what the first of those
        raised, with the others' as notes.
        """
        failures: list[Exception] = []
        for fault in reversed(self.standing):
            try:
                fault.heal(wait=False)
            except Exception as error:  # noqa: BLE001 - raised below, once all were tried
                failures.append(error)
        if failures:
            first, *others = failures
            for other in others:
                first.add_note(str(other))
            raise first

    def forget(self) -> None:
        """What was done no longer matters; what stands still does."""
        self._done.clear()


class HasDeeds(Protocol):
    @property
    def deeds(self) -> Deeds: ...


C = TypeVar("C", bound=HasDeeds)
P = ParamSpec("P")
R = TypeVar("R")


def deed(method: Callable[Concatenate[C, P], R]) -> Callable[Concatenate[C, P], R]:
    """Mark a method of a cluster as one that does something to it."""

    @functools.wraps(method)
    def noted(cluster: C, /, *args: P.args, **kwargs: P.kwargs) -> R:
        what = " ".join([method.__name__, *_words(args, kwargs)])
        done = method(cluster, *args, **kwargs)
        if isinstance(done, Fault):
            cluster.deeds.begun(what, done)
        else:
            cluster.deeds.note(what)
        return done

    DEEDS[method.__name__] = noted
    return noted


def _words(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[str]:
    return [*map(str, args), *(f"{name}={value}" for name, value in kwargs.items())]
