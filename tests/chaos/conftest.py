"""What a test of the harness leaks is its own."""

from __future__ import annotations

from tests.leaks import leaks_are_its_own, threads_end_with_their_module

__all__ = ["leaks_are_its_own", "threads_end_with_their_module"]
