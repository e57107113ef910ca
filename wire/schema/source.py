"""Writes Python source while keeping adjacent fixed-width fields together.

A run of fixed-width values costs one ``struct`` call however long it is, so the compilers hand
each one to :meth:`Source.fixed` and the run is emitted only when something of variable width,
a branch or a loop comes. Generated names are unique in a function.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


class Source:
    """Lines of one function, its global names, and the run not yet emitted."""

    def __init__(self, env: dict[str, Any], emit_run: Callable[[list[tuple[str, str]]], None]):
        self.env = env
        self._emit_run = emit_run
        self._lines: list[str] = []
        self._depth = 0
        self._names = 0
        self._run: list[tuple[str, str]] = []

    def line(self, text: str) -> None:
        self._lines.append("    " * self._depth + text)

    @contextmanager
    def block(self, head: str) -> Iterator[None]:
        """An indented block; a pending run is emitted before it and at its end."""
        self.flush()
        self.line(head)
        self._depth += 1
        yield
        self.flush()
        self._depth -= 1

    def fixed(self, code: str, name: str) -> None:
        """Adds a value of fixed width: its format character, and a target or an expression."""
        self._run.append((code, name))

    def flush(self) -> None:
        run = self.take_run()
        if run:
            self._emit_run(run)

    def take_run(self) -> list[tuple[str, str]]:
        """The pending run, for a caller that emits it itself."""
        run, self._run = self._run, []
        return run

    def name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def constant(self, stem: str, value: Any) -> str:
        """A global name of the generated function that holds a value."""
        name = self.name(stem)
        self.env[name] = value
        return name

    def compile(self, title: str, function: str) -> Any:
        exec(compile("\n".join(self._lines), title, "exec"), self.env)
        return self.env[function]
