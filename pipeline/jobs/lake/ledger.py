"""Which files of a lake count: all that are where readers look, whenever the job was killed.

A batch is written into a folder aside. Then it is decided on: one file says which of its files go
where, which others they replace, and how far the lake is then. From there on it only goes forward,
by steps that may be taken twice; before, all that was written is thrown away.

Each run writes into a folder aside of its own: the JVM of one that was killed may go on writing for
a while, and what it writes is of no batch of the next one's.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import NamedTuple, TextIO
from uuid import uuid4

from logquake.pipeline.jobs.lake.state import LakeState, from_text

_OWN = "_lake"


class LakeError(Exception):
    """A lake that cannot be written to, or read: what is wrong with it."""


class Step(Enum):
    """What was done last. Told as it happens."""

    CLEARED = "what an earlier run left behind is cleared away"
    WRITTEN = "the batch is written aside"
    DECIDED = "the batch is decided on"
    MOVED_ONE = "a file of the batch is in its place"
    REMOVED_ONE = "a file that was replaced is gone"
    COMMITTED = "the batch is committed"


class Move(NamedTuple):
    """Relative to the lake's folder."""

    source: str
    target: str


@dataclass(frozen=True, slots=True)
class Decision:
    state: LakeState
    moves: Sequence[Move] = ()
    replaced: Sequence[str] = ()


class Ledger:
    """Of the one who may write: see `opened`. No two have a ``run`` in common."""

    def __init__(self, root: Path, tell: Callable[[Step], None], run: str) -> None:
        self.root = root
        self._tell = tell
        self._own = root / _OWN
        self._state = self._own / "state.json"
        self._pending = self._own / "pending.json"
        self._aside = self._own / "staging"
        self.staging = self._aside / run

    def recover(self) -> LakeState | None:
        """Finish what was decided, forget what was not; how far the lake is, None of a new one.

        Raises LakeError.
        """
        if self._pending.exists():
            self._carry_out(self._decided())
        self._clear()
        return self.state()

    def state(self) -> LakeState | None:
        """Raises LakeError."""
        try:
            return from_text(self._state.read_text())
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise LakeError(f"{self._state} cannot be read: {error}") from error

    def put(self, decision: Decision) -> None:
        """What was staged counts from now on, and what it replaces does not. Raises LakeError."""
        self._tell(Step.WRITTEN)
        for move in decision.moves:
            _sync(self.root / move.source)
        _write_whole(self._pending, _to_text(decision))
        self._tell(Step.DECIDED)
        self._carry_out(decision)
        self._clear()

    def _decided(self) -> Decision:
        try:
            document = json.loads(self._pending.read_text())
            moves = [Move(*move) for move in document["moves"]]
            state = from_text(json.dumps(document["state"]))
            return Decision(state, moves, document["replaced"])
        except (ValueError, KeyError, TypeError) as error:
            raise LakeError(f"{self._pending} cannot be read: {error}") from error

    def _carry_out(self, decision: Decision) -> None:
        for move in decision.moves:
            self._move(move)
            self._tell(Step.MOVED_ONE)
        for folder in sorted({each for move in decision.moves for each in self._above(move)}):
            _sync(folder)
        for path in decision.replaced:
            (self.root / path).unlink(missing_ok=True)
            self._tell(Step.REMOVED_ONE)
        _write_whole(self._state, json.dumps(decision.state.to_document()))
        self._pending.unlink()
        self._tell(Step.COMMITTED)

    def _above(self, move: Move) -> list[Path]:
        """All folders that may be new, and the lake's own."""
        above = (self.root / move.target).parents
        return [folder for folder in above if folder.is_relative_to(self.root)]

    def _move(self, move: Move) -> None:
        source, target = self.root / move.source, self.root / move.target
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            source.replace(target)
        except FileNotFoundError:  # moved already, by who was killed after that
            if not target.exists():
                raise LakeError(f"{source} was decided on, and is gone") from None

    def _clear(self) -> None:
        shutil.rmtree(self._aside, ignore_errors=True)
        for path in self._own.glob("*.new"):
            path.unlink()
        self._tell(Step.CLEARED)


@contextmanager
def opened(root: Path, tell: Callable[[Step], None] = lambda _: None) -> Iterator[Ledger]:
    """A lake that nobody else changes, made where there is none. Raises LakeError while another job
    has it.

    Caveat: of a job on another machine a lock tells where the file system passes locks on: NFS
    does, Lustre if it was mounted with `flock`, others may keep them to each machine.
    """
    with _lock_of(root) as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise LakeError(f"another job has {root}: wait until it is through") from None
        except OSError as error:
            raise LakeError(f"{root}: its file system knows no locks: {error}") from error
        yield Ledger(root, tell, uuid4().hex)


@contextmanager
def settled(root: Path) -> Iterator[LakeState]:
    """A lake to read: what a job that was killed has decided on is done, and nobody changes it
    meanwhile. Raises LakeError where there is none.
    """
    if not (root / _OWN).is_dir():
        raise LakeError(f"{root} is no lake")
    with opened(root) as ledger:
        state = ledger.recover()
        if state is None:
            raise LakeError(f"{root} is no lake: nothing was ever committed to it")
        yield state


def _lock_of(root: Path) -> TextIO:
    try:
        (root / _OWN).mkdir(parents=True, exist_ok=True)
        return (root / _OWN / "lock").open("w")
    except OSError as error:
        raise LakeError(f"{root} cannot be written to: {error}") from error


def _to_text(decision: Decision) -> str:
    return json.dumps(
        {
            "state": decision.state.to_document(),
            "moves": decision.moves,
            "replaced": decision.replaced,
        }
    )


def _write_whole(path: Path, text: str) -> None:
    """All of it or nothing, after a loss of power too."""
    new = path.with_name(f"{path.name}.new")
    new.write_text(text)
    _sync(new)
    new.replace(path)
    _sync(path.parent)


def _sync(path: Path) -> None:
    """A file's content, or a folder's names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
