"""The state directory of a cluster: ``--data-dir``, or ``~/.logquake/<name>``.

spec.json            what was asked for; kept by ``down --keep-data``
state.json           what runs: members, pids, ports, how each ended
control.sock         where the supervisor listens for the command line
links.sock           where the links do, of a cluster that has them
control-port.json    address and token of the control port, of a cluster that has one
lock                 locked by the supervisor for as long as it lives
supervisor.log
zookeeper/           zoo.cfg, data/, zookeeper.log; of an ensemble zookeeper-1/, zookeeper-2/, ...
security/            of a cluster that is secure: certificates, users, how clients connect
broker-N/            server.properties, data/ (Kafka's log.dirs), data-2/, ... where more are wanted
broker-N/unsynced/   what a loss of power would take back, where that may happen
logs/broker-N.log    what a broker prints
events/broker-N.jsonl
exchanges/           what clients asked and were answered, where somebody watches them
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from logquake.cluster.errors import ClusterError

MINIMUM_FREE_BYTES = 64 * 1024 * 1024
_FILES = (
    "spec.json",
    "state.json",
    "control.sock",
    "links.sock",
    "control-port.json",
    "supervisor.log",
    "lock",
)
_FOLDERS = ("logs", "events")
_SECURITY, _EXCHANGES = "security", "exchanges"  # made when they are wanted
_STACK_FRAME = "at "  # of Java's: where it happened, below what happened


def default_root(name: str) -> Path:
    return _home() / name


@dataclass(frozen=True, slots=True)
class Layout:
    """Where what lies below ``root``, which is absolute."""

    root: Path

    @property
    def spec(self) -> Path:
        return self.root / "spec.json"

    @property
    def state(self) -> Path:
        return self.root / "state.json"

    @property
    def control_socket(self) -> Path:
        return self.root / "control.sock"

    @property
    def links_socket(self) -> Path:
        return self.root / "links.sock"

    @property
    def control_port(self) -> Path:
        return self.root / "control-port.json"

    @property
    def lock(self) -> Path:
        return self.root / "lock"

    @property
    def supervisor_log(self) -> Path:
        return self.root / "supervisor.log"

    @property
    def security(self) -> Path:
        return self.root / _SECURITY

    @property
    def exchanges(self) -> Path:
        """Made when it is wanted."""
        return self.root / _EXCHANGES

    @property
    def events(self) -> Path:
        return self.root / "events"

    def zookeeper_of(self, member: str) -> Path:
        """Made by the server itself."""
        return self.root / member

    def log_of(self, member: str) -> Path:
        if member.startswith("zookeeper"):
            return self.zookeeper_of(member) / "zookeeper.log"
        return self.root / "logs" / f"{member}.log"

    def properties_of(self, broker_id: int) -> Path:
        return self.root / f"broker-{broker_id}" / "server.properties"

    def data_of(self, broker_id: int) -> Path:
        return self.root / f"broker-{broker_id}" / "data"

    def data_dirs(self, broker_id: int, count: int) -> list[Path]:
        """All of a broker's log directories, data_of() the first."""
        first = self.data_of(broker_id)
        return [first, *(first.with_name(f"{first.name}-{n}") for n in range(2, count + 1))]

    def unsynced_of(self, broker_id: int) -> Path:
        """Who removes a broker's data removes this too: it speaks of that data."""
        return self.root / f"broker-{broker_id}" / "unsynced"

    def prepare(self, broker_ids: Iterable[int], log_dirs: int = 1) -> None:
        """Make what is missing. Raises ClusterError: no parent, no permission, no space."""
        try:
            if self.root.parent == _home():
                self.root.parent.mkdir(exist_ok=True)
            folders = [self.root, *(self.root / name for name in _FOLDERS)]
            for broker_id in broker_ids:
                folders += self.data_dirs(broker_id, log_dirs)
            for folder in folders:
                folder.mkdir(exist_ok=True, parents=folder is not self.root, mode=0o700)
            free_bytes = shutil.disk_usage(self.root).free
        except OSError as error:
            raise ClusterError(_refusal(self.root, error)) from error
        if free_bytes < MINIMUM_FREE_BYTES:
            raise ClusterError(_no_space(self.root, free_bytes))

    def empty_broker(self, broker_id: int, log_dirs: int) -> None:
        """Its log directories are as new, and so is what a loss of power would take back of them.

        Raises OSError.
        """
        for folder in (*self.data_dirs(broker_id, log_dirs), self.unsynced_of(broker_id)):
            if folder.exists():
                shutil.rmtree(folder)
        for folder in self.data_dirs(broker_id, log_dirs):
            folder.mkdir(mode=0o700)

    def remove_broker(self, broker_id: int) -> None:
        """What it printed, and its events, stay."""
        shutil.rmtree(self.root / f"broker-{broker_id}", ignore_errors=True)

    def remove_addresses(self) -> None:
        """Where nobody listens any more, of a cluster that has ended and is kept."""
        for address in (self.control_socket, self.links_socket, self.control_port):
            address.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove what a cluster made here, and the folder itself if nothing else is in it."""
        for name in (*_FOLDERS, _SECURITY, _EXCHANGES):
            shutil.rmtree(self.root / name, ignore_errors=True)
        for pattern in ("broker-*", "zookeeper", "zookeeper-*"):
            for folder in self.root.glob(pattern):
                shutil.rmtree(folder, ignore_errors=True)
        for name in _FILES:
            (self.root / name).unlink(missing_ok=True)
        if self.root.exists() and not any(self.root.iterdir()):
            self.root.rmdir()


def is_locked(layout: Layout) -> bool:
    """Whether a supervisor lives: the lock goes with it, however it ends."""
    try:
        with layout.lock.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except BlockingIOError:
        return True
    return False


def take_lock(layout: Layout) -> IO[bytes]:
    """Lock the directory until the file is closed. Raises ClusterError when another has it."""
    while True:
        lock = layout.lock.open("ab")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            raise ClusterError(
                f"a cluster already runs in {layout.root}: choose another --name or --data-dir"
            ) from None
        if _is_still(layout.lock, lock):
            return lock
        lock.close()  # the cluster before us removed the file between our open and our lock


def write_json(path: Path, document: dict[str, Any]) -> None:
    """Replace the file in one step: a reader sees the old document or the new one."""
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(document, indent=2) + "\n")
    scratch.replace(path)


def write_private(path: Path, text: str) -> None:
    """A file that its owner alone may read, from the first byte on."""
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(text)


def write_private_json(path: Path, document: dict[str, Any]) -> None:
    write_private(path, json.dumps(document, indent=2) + "\n")


def read_json(path: Path) -> dict[str, Any] | None:
    """The document, None if there is none. Raises ClusterError when it is damaged."""
    try:
        document = json.loads(path.read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, ValueError) as error:
        raise ClusterError(f"cannot read {path} ({error}): remove that file") from error
    if not isinstance(document, dict):
        raise ClusterError(f"{path} is not what logquake wrote: remove that file")
    return document


def last_line(log: Path) -> str:
    """The last line of a process's log, to be shown in an error of one line."""
    text = log.read_text(errors="replace") if log.exists() else ""
    lines = [line.strip() for line in text.splitlines()]
    said = [line for line in lines if line and not line.startswith(_STACK_FRAME)]
    return said[-1] if said else "it said nothing"


def _home() -> Path:
    named = os.environ.get("LOGQUAKE_HOME")
    return Path(named) if named else Path.home() / ".logquake"


def _is_still(path: Path, lock: IO[bytes]) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(lock.fileno()))
    except FileNotFoundError:
        return False


def _refusal(root: Path, error: OSError) -> str:
    if error.errno == errno.ENOSPC:
        return _no_space(root, 0)
    if error.errno == errno.ENOENT:
        return f"{root.parent} does not exist: make it, or choose another --data-dir"
    return f"cannot use {root} ({error.strerror}): choose another --data-dir"


def _no_space(root: Path, free_bytes: int) -> str:
    return (
        f"{root} has {free_bytes // 1024**2} MiB free, at least {MINIMUM_FREE_BYTES // 1024**2} "
        "are needed: free some, or choose another --data-dir"
    )
