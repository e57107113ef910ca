"""Chains for whoever reads one after the other: what one loss led to is told once.

A kill that breaks five invariants has one story. Who is told it five times looks for a difference
between them, and there is none.
"""

from __future__ import annotations

from logquake.chaos.checkers.verdicts import Violation


class Retelling:
    """Of violations in the order in which they are told."""

    def __init__(self) -> None:
        self._told: list[tuple[str, frozenset[str]]] = []

    def sentences(self, violation: Violation) -> tuple[str, ...]:
        """Its chain; where most of it was told before, of what, and the rest."""
        chain = frozenset(violation.chain)
        invariant, known = max(
            self._told, key=lambda told: len(told[1] & chain), default=("", frozenset())
        )
        self._told.append((violation.invariant, chain))
        shared = len(known & chain)
        if shared < 2 or 2 * shared <= len(chain):
            return violation.chain
        rest = tuple(one for one in violation.chain if one not in known)
        return (f"as told of {invariant} above{', and besides:' if rest else ''}", *rest)
