"""Which requests a fault is about, and how often: the rules that hold on all links.

A rule looks at each request once, as it comes by. Of those that are its own it lets some pass
first (``skip``), then acts on each with a probability (``rate``, from its seed), and no more than
so many times (``times``). Several rules may act on one request, in the order they were made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from random import Random
from typing import Any

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.effects import means
from logquake.cluster.links.requests.actions import Action, action_from_json, action_to_json
from logquake.wire.api import ApiKey, api_name, api_named
from logquake.wire.header import RequestHeader

#: The kind of such a fault where it is written down.
REQUEST = "request"


@dataclass(frozen=True, slots=True)
class RequestFault:
    """One action on requests of one API; ends that are not named may be any."""

    api: ApiKey
    action: Action
    sources: tuple[str, ...] = ()  # who asks
    targets: tuple[str, ...] = ()  # who is asked
    client_id: str | None = None
    versions: tuple[int, int] | None = None  # the first and the last; None for all
    skip: int = 0
    times: int | None = None
    rate: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.rate <= 1:
            raise ClusterError(f"a rate of {self.rate:g}: above 0, up to 1")
        if self.skip < 0 or (self.times is not None and self.times < 1):
            raise ClusterError("skip 0 or more requests, act 1 time or more")

    @property
    def ends(self) -> frozenset[str]:
        return frozenset((*self.sources, *self.targets))

    @property
    def path(self) -> str:
        """From whom to whom, in words."""
        source, target = (",".join(ends) or "anyone" for ends in (self.sources, self.targets))
        return f"{source} -> {target}"

    def is_on(self, dialler: str, dialled: str) -> bool:
        """Whether requests from one end to another may be its own."""
        return all(
            not names or any(means(name, end) for name in names)
            for names, end in ((self.sources, dialler), (self.targets, dialled))
        )

    def is_about(self, header: RequestHeader) -> bool:
        first, last = self.versions or (header.api_version, header.api_version)
        return (
            header.api_key == self.api
            and first <= header.api_version <= last
            and self.client_id in (None, header.client_id)
        )

    def __str__(self) -> str:
        limits = [f"{self.times} times"] if self.times is not None else []
        limits += [f"after {self.skip}"] if self.skip else []
        limits += [f"at a rate of {self.rate:g}"] if self.rate < 1 else []
        return f"{api_name(self.api)} {self.action}: {', '.join([self.path, *limits])}"

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": REQUEST,
            "api": api_name(self.api),
            "action": action_to_json(self.action),
            "sources": self.sources,
            "targets": self.targets,
            "client_id": self.client_id,
            "versions": self.versions,
            "skip": self.skip,
            "times": self.times,
            "rate": self.rate,
            "seed": self.seed,
        }

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> RequestFault:
        """Raises ClusterError."""
        values = {name: value for name, value in document.items() if name != "kind"}
        try:
            api = request_api(values.pop("api"))
            action = action_from_json(values.pop("action"))
            for name in ("sources", "targets"):
                values[name] = tuple(values.get(name, ()))
            versions = values.pop("versions", None)
            return cls(api, action, versions=versions and (versions[0], versions[1]), **values)
        except (KeyError, TypeError, ValueError) as error:
            raise ClusterError(f"no fault of requests: {error}") from error


def request_api(name: str) -> ApiKey:
    """Raises ClusterError."""
    try:
        return api_named(name)
    except ValueError as error:
        raise ClusterError(str(error)) from error


@dataclass(slots=True)
class Rule:
    """A fault that holds, and how far it has got."""

    id: int
    fault: RequestFault
    seen: int = 0  # requests of its own that came by
    acted: int = 0  # on how many of them it acts: what ``times`` bounds
    hits: int = 0  # how many were met: a request at once, an answer when it came
    _random: Random = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._random = Random(self.fault.seed)

    def takes(self, header: RequestHeader) -> bool:
        """Whether it acts on a request that has come by."""
        fault = self.fault
        if not fault.is_about(header):
            return False
        self.seen += 1
        if self.seen <= fault.skip or self.acted == fault.times:
            return False
        if fault.rate < 1 and self._random.random() >= fault.rate:
            return False
        self.acted += 1
        return True


class RuleBook:
    """The rules that hold. ``hit`` is called with a rule that has met what it was waiting for."""

    def __init__(self, hit: Callable[[Rule], None] = lambda _rule: None) -> None:
        self._hit = hit
        self._rules: dict[int, Rule] = {}

    @property
    def ids(self) -> Set[int]:
        return self._rules.keys()

    def __contains__(self, rule_id: int) -> bool:
        return rule_id in self._rules

    def begin(self, rule_id: int, fault: RequestFault) -> None:
        self._rules[rule_id] = Rule(rule_id, fault)

    def end(self, rule_id: int) -> None:
        self._rules.pop(rule_id, None)

    def get(self, rule_id: int) -> Rule | None:
        return self._rules.get(rule_id)

    def concern(self, dialler: str, dialled: str) -> bool:
        """Whether anybody wants to know what is asked there."""
        return any(rule.fault.is_on(dialler, dialled) for rule in self._rules.values())

    def take(self, dialler: str, dialled: str, header: RequestHeader) -> Iterator[Rule]:
        """Those that act on a request, which has come by: ask once."""
        for rule in list(self._rules.values()):
            if rule.fault.is_on(dialler, dialled) and rule.takes(header):
                yield rule

    def met(self, rule_id: int) -> None:
        """What a rule acts on is there."""
        rule = self._rules.get(rule_id)
        if rule is not None:
            rule.hits += 1
            self._hit(rule)

    def was_in_vain(self, rule_id: int) -> None:
        """It could not act after all: the time does not count."""
        rule = self._rules.get(rule_id)
        if rule is not None:
            rule.acted -= 1
