"""Invariants: what a class lists in its docstring, asserted after each change when asked to.

A class says which of its methods change it, and its check_invariants() says what must hold then:

    @asserted_after("commit", "truncate_to")
    class Log:
        def check_invariants(self) -> None:
            must_hold(self.start_offset <= self.end_offset, "start <= end", self.start_offset, ...)

Nothing is asserted, and nothing costs anything, until assert_invariants() is called: it exchanges
those methods for ones that check when they return. The tests and the simulation call it; a broker
never does. A method that raises is not followed by a check. check_invariants() touches no disk.

Caveat: a bound method that somebody took before assert_invariants() goes on without checks.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar


class InvariantError(AssertionError):
    """A bug: what must hold does not. The values are in the text."""


class HasInvariants(Protocol):
    def check_invariants(self) -> None:
        """Raises InvariantError."""


_Class = TypeVar("_Class", bound=type[HasInvariants])


class _KeptClasses:
    """Those whose methods are not exchanged yet. All are, from the asking on."""

    def __init__(self) -> None:
        self._waiting: list[tuple[type[HasInvariants], tuple[str, ...]]] = []
        self._is_asked = False

    def add(self, kept: type[HasInvariants], methods: tuple[str, ...]) -> None:
        self._waiting.append((kept, methods))
        if self._is_asked:
            self.exchange()

    def exchange(self) -> None:
        self._is_asked = True
        while self._waiting:
            kept, methods = self._waiting.pop()
            for name in methods:
                setattr(kept, name, _followed_by_check(getattr(kept, name)))


_kept_classes = _KeptClasses()


def asserted_after(*methods: str) -> Callable[[_Class], _Class]:
    """Of a class: check_invariants() is to hold whenever one of these methods returns."""

    def register(kept: _Class) -> _Class:
        _kept_classes.add(kept, methods)
        return kept

    return register


def assert_invariants() -> None:
    """From now on, and for the rest of the process."""
    _kept_classes.exchange()


def must_hold(condition: bool, what: str, *values: object) -> None:
    """Raises InvariantError, with the values, where the condition does not hold."""
    if not condition:
        raise InvariantError(f"{what}: {', '.join(map(repr, values))}")


def _followed_by_check(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def checked(self: HasInvariants, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        self.check_invariants()
        return result

    return checked
