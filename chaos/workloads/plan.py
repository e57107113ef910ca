"""What a workload is told to do: the options of the command line and of scenarios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, Self, TypeVar

Option = str | int | float | bool
T = TypeVar("T", str, int, float, bool)


class WorkloadKind(StrEnum):
    """Which program; `chaos/workloads` says what each does."""

    PLAIN = "plain"
    IDEMPOTENT = "idempotent"
    COMPACTED = "compacted"
    TRANSACTIONAL = "transactional"
    MOVER = "mover"
    MEMBER = "member"
    READER = "reader"
    IMPATIENT = "impatient"
    MIXED = "mixed"


_TRANSACTIONAL = (WorkloadKind.TRANSACTIONAL, WorkloadKind.MOVER, WorkloadKind.IMPATIENT)
_SENDS = (WorkloadKind.PLAIN, WorkloadKind.IDEMPOTENT, WorkloadKind.COMPACTED, *_TRANSACTIONAL)
_READS = (WorkloadKind.MOVER, WorkloadKind.MEMBER, WorkloadKind.READER)


class ClientLibrary(StrEnum):
    """Whose client it runs over."""

    CONFLUENT = "confluent-kafka"
    JAVA = "java"
    OWN = "logquake"


def runs_over(kind: WorkloadKind, library: ClientLibrary) -> bool:
    return kind is not WorkloadKind.IMPATIENT or library is not ClientLibrary.JAVA


def _option(meaning: str, default: T) -> T:
    declared: T = field(default=default, metadata={"meaning": meaning})
    return declared


@dataclass(frozen=True, slots=True)
class Plan:
    """Options that a kind has no use for are ignored. ``settings`` are the client's own."""

    kind: WorkloadKind
    bootstrap: str
    settings: Mapping[str, Option] = field(default_factory=dict)
    client: ClientLibrary = field(
        default=ClientLibrary.CONFLUENT, metadata={"meaning": " or ".join(ClientLibrary)}
    )
    seed: int = _option("what is drawn is drawn from it and the process's name", 1)
    ordinal: int = _option("another one for each process of a run: its sends count from there", 0)
    topic: str = _option("sent to, or read", "orders")
    partition: int = _option("the only one to send to; -1: each key has its own", -1)
    target: str = _option("where a mover moves records to", "moved")
    rate: float = _option("records a second; 0: as fast as it goes", 0.0)
    count: int = _option("sends, or transactions, after which it ends; 0: none", 0)
    keys: int = _option("how many different ones", 50)
    size: int = _option("bytes of a value, at least", 0)
    acks: str = _option("of a plain producer: 0, 1 or all", "all")
    tombstones: float = _option("share of sends to a compacted topic that delete a key", 0.1)
    pieces: int = _option("records of a transaction, at most", 6)
    aborted: float = _option("share of transactions that are aborted", 0.2)
    transactional_id: str = _option("[default: the process's name]", "")
    patience_s: float = _option("how long an impatient producer waits for an answer", 4.0)
    new_epochs: bool = _option("an impatient producer takes one after each transaction", False)
    take_over: bool = _option("go on as a new producer after a fatal error, or else end", True)
    group: str = _option("of a member or a mover", "readers")
    strategy: str = _option("of a group: range, roundrobin or cooperative-sticky", "range")
    instance_id: str = _option("makes a member a static one", "")
    leave_every_s: float = _option("about how often a member leaves and joins again; 0: never", 0.0)
    works_s: float = _option("how long a member works on what it took, before it commits", 0.0)
    isolation: str = _option("of whoever reads", "read_committed")

    @classmethod
    def of(cls, kind: str, bootstrap: str, options: Mapping[str, Option]) -> Self:
        """Names with a dot are the client's. Raises ValueError for what makes no sense."""
        own: dict[str, Any] = {
            name: parsed(name, value) for name, value in options.items() if "." not in name
        }
        settings = {name: value for name, value in options.items() if "." in name}
        plan = cls(WorkloadKind(kind), bootstrap, settings, **own)
        if not runs_over(plan.kind, plan.client):
            raise ValueError(f"{kind} runs over logquake's own client alone")
        return plan

    @property
    def own_options(self) -> dict[str, Option]:
        """All but the settings."""
        return {name: getattr(self, name) for name in DEFAULTS}

    def options(self) -> dict[str, Option]:
        """All of them, as of() takes them."""
        return {**self.own_options, **self.settings}

    def arguments(self) -> list[str]:
        """The command line that says the same."""
        settings = [f"-c{name}={value}" for name, value in self.settings.items()]
        own = [f"--{name.replace('_', '-')}={value}" for name, value in self.own_options.items()]
        return [str(self.kind), f"--bootstrap={self.bootstrap}", *settings, *own]

    def transactional_id_of(self, process: str) -> str:
        return self.transactional_id or process

    def told(self, process: str) -> dict[str, Any]:
        """Of the process that begins: all options, and what a judge has to know of its client."""
        client: dict[str, Any] = {}
        if self.kind in _SENDS:
            id = self.transactional_id_of(process) if self.kind in _TRANSACTIONAL else None
            client["acks"] = self.acks if self.kind is WorkloadKind.PLAIN else "all"
            client["idempotent"] = self.kind is not WorkloadKind.PLAIN
            client["transactional_id"] = id
        if self.kind in _READS:
            client["isolation"] = self.isolation
        return {"kind": self.kind, **self.options(), **client}


MEANINGS: Mapping[str, str] = {
    each.name: each.metadata["meaning"] for each in fields(Plan) if each.metadata
}
_UNCHANGED = Plan(WorkloadKind.PLAIN, "")
DEFAULTS: Mapping[str, Option] = {name: getattr(_UNCHANGED, name) for name in MEANINGS}
_BOOLEANS = {"true": True, "false": False}


def parsed(name: str, value: Option) -> Option:
    """The value as the option's own type. Raises ValueError."""
    if name not in DEFAULTS:
        raise ValueError(f"no workload has the option {name}; there are {', '.join(DEFAULTS)}")
    kind = type(DEFAULTS[name])
    if kind is not bool or isinstance(value, bool):
        return kind(value)
    if str(value).lower() not in _BOOLEANS:
        raise ValueError(f"{name} is true or false, not {value}")
    return _BOOLEANS[str(value).lower()]
