"""Walks through the code as documents draw them, held against the calls that are made."""

from __future__ import annotations

import gc
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from tests.docs.__main__ import ROOT
from tests.docs.prose import document

STEP = re.compile(r".*? ((?:node|controller|storage|zk|wire)/\S+(?:, \S+)*) {2,}([^:(]+)")
MORE = re.compile(r" +\| {9,}(\w+)")


class Call(NamedTuple):
    file: str
    function: str


class Step(NamedTuple):
    """One of the files, or a file of the folder, has the function."""

    files: tuple[str, ...]
    function: str

    def is_taken_by(self, call: Call) -> bool:
        return call.function == self.function and call.file.startswith(self.files)


def drawn(file: str) -> Iterator[Step]:
    """The steps of the drawing, from the socket to the socket."""
    files: tuple[str, ...] = ()
    for line in document(file, (ROOT / file).read_text()):
        if not line.is_drawing:
            continue
        if (step := STEP.fullmatch(line.text.split(":")[0].split("()")[0])) is not None:
            files = tuple(step[1].split(", "))
            owner = ""
            for name in step[2].strip(" ,").split(", "):
                owner = owner if name.startswith(".") else name.partition(".")[0]
                yield Step(files, owner + name if name.startswith(".") else name)
        elif (more := MORE.fullmatch(line.text)) is not None:
            yield Step(files, more[1])


def calls_of(action: Callable[[], None]) -> list[Call]:
    """Every call of our own functions, in order; a collection meanwhile is none of the action's."""
    calls: list[Call] = []
    files: dict[str, str | None] = {}

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call":
            name = frame.f_code.co_filename
            if name not in files:
                files[name] = _in_tree(Path(name))
            file = files[name]
            if file is not None and not file.startswith("tests/"):
                calls.append(Call(file, frame.f_code.co_qualname))

    gc.disable()  # what collects calls back, and would be on the way by chance
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
        gc.enable()
    return calls


def _in_tree(file: Path) -> str | None:
    """None for others' files, and for what dataclasses make of strings."""
    path = file.resolve()
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) and file.is_file() else None


def missed(steps: Iterable[Step], calls: Iterable[Call]) -> Step | None:
    """The first of the steps that was not taken after those before it."""
    remaining = iter(calls)
    return next((step for step in steps if not any(map(step.is_taken_by, remaining))), None)
