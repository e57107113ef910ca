"""Writes Python source while keeping adjacent fixed-width fields together.

A run of fixed-width values costs one ``struct`` call however long it is, so the compilers hand
each one to :meth:`Source.fixed` and the run is emitted only when something of variable width,
a branch or a loop comes. Generated names are unique in a function.

Each line ends in a comment that names the field it is about, and the source is kept where
tracebacks and debuggers look for it: :func:`field_of` reads from a traceback which field failed.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any

_ABOUT = "  # "


@dataclass(frozen=True, slots=True)
class FixedValue:
    """A value of fixed width: its format character, a target or an expression, and the field."""

    code: str
    name: str
    about: str = ""


class Source:
    """Lines of one function, its global names, and the run not yet emitted."""

    def __init__(self, env: dict[str, Any], emit_run: Callable[[list[FixedValue]], None]):
        self.env = env
        self._emit_run = emit_run
        self._lines: list[str] = []
        self._depth = 0
        self._names = 0
        self._run: list[FixedValue] = []

    def line(self, text: str, about: str = "") -> None:
        comment = about and f"{_ABOUT}{about}"
        self._lines.append("    " * self._depth + text + comment)

    @contextmanager
    def block(self, head: str, about: str = "") -> Iterator[None]:
        """An indented block; a pending run is emitted before it and at its end."""
        self.flush()
        self.line(head, about)
        self._depth += 1
        yield
        self.flush()
        self._depth -= 1

    def fixed(self, code: str, name: str, about: str = "") -> None:
        """Adds a value of fixed width to the run."""
        self._run.append(FixedValue(code, name, about))

    def flush(self) -> None:
        run = self.take_run()
        if run:
            self._emit_run(run)

    def take_run(self) -> list[FixedValue]:
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
        source = "\n".join(self._lines)
        linecache.cache[title] = (len(source), None, source.splitlines(keepends=True), title)
        exec(compile(source, title, "exec"), self.env)
        return self.env[function]


def about_run(run: list[FixedValue]) -> str:
    """The field of a run, or its first and last."""
    named = [value.about for value in run if value.about]
    return " to ".join(dict.fromkeys((named[0], named[-1]))) if named else ""


def field_of(error: BaseException, title: str) -> str:
    """The field that compiled code of that title was at; empty when it was at none."""
    lines = [line for name, line in _places(error.__traceback__) if name == title]
    text = linecache.getline(title, lines[-1]) if lines else ""
    return text.rpartition(_ABOUT)[2].strip() if _ABOUT in text else ""


def _places(traceback: TracebackType | None) -> Iterator[tuple[str, int]]:
    while traceback is not None:
        yield traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
