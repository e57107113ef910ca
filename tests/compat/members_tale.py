"""What members of ours hear as they come and go: the scenarios of java/clients/Members.java."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from logquake.client.errors import BrokerError
from logquake.client.sync.consumer import Consumer
from logquake.wire.topic_partition import TopicPartition
from tests.waiting import wait_for

TOPICS = ("shared-a", "shared-b")
PARTITIONS = 3
SHORT_MS = 200
SESSION_MS = 600_000
ASSIGNORS = {
    "RangeAssignor": "range",
    "RoundRobinAssignor": "roundrobin",
    "StickyAssignor": "sticky",
    "CooperativeStickyAssignor": "cooperative-sticky",
}


class Member:
    def __init__(self, servers: str, group: str, name: str, **settings: object) -> None:
        given = {
            "bootstrap_servers": servers,
            "group_id": group,
            "client_id": name,
            "heartbeat_interval_ms": 300,
            "session_timeout_ms": SESSION_MS,
            "auto_offset_reset": "earliest",
            "enable_auto_commit": False,
            "metadata_max_age_ms": 300_000,
        }
        self.consumer = Consumer({**given, **settings})
        self._told: list[str] = []
        self.consumer.subscribe(TOPICS, listener=self)

    def on_assigned(self, places: Sequence[TopicPartition], /) -> None:
        self._told.append(f"got {_named(places)}")

    def on_revoked(self, places: Sequence[TopicPartition], /) -> None:
        self._told.append(f"gave {_named(places)}")

    def on_lost(self, places: Sequence[TopicPartition], /) -> None:
        self._told.append(f"lost {_named(places)}")

    def tale(self) -> str:
        """Since it was last asked."""
        told, self._told = self._told, []
        return ", ".join(each for each in told if not each.endswith("[]"))


@contextmanager
def member(servers: str, group: str, name: str, **settings: object) -> Iterator[Member]:
    made = Member(servers, group, name, **settings)
    with made.consumer:
        yield made


def told(servers: str) -> dict[str, str]:
    """By call, as Java's are named."""
    said: dict[str, str] = {}
    for name, strategy in ASSIGNORS.items():
        said |= {f"{name}: {call}": what for call, what in _shared(servers, name, strategy)}
    said |= {f"static: {call}": what for call, what in _static(servers)}
    return said


def _shared(servers: str, name: str, strategy: str) -> Iterator[tuple[str, str]]:
    by = {"partition_assignment_strategy": strategy}
    group = f"ours-{name}"
    with member(servers, group, "a", **by) as first:
        _settle(first)
        yield "the first alone", first.tale()
        with member(servers, group, "b", **by) as second:
            _settle(first, second)
            yield "the first of two", first.tale()
            yield "the second", second.tale()
            _wait_for_one_generation(first, second)
            yield "generation", "true"
        _settle(first)
        yield "what it has again", _named(first.consumer.assignment())
        first.consumer.enforce_rebalance()
        first.consumer.poll(SHORT_MS)
        _settle(first)


def _static(servers: str) -> Iterator[tuple[str, str]]:
    named = {"group_instance_id": "instance"}
    with member(servers, "ours-static", "a", **named) as first:
        _settle(first)
        generation = first.consumer.group_metadata().generation_id
    with member(servers, "ours-static", "b", **named) as again:
        _settle(again)
        who = again.consumer.group_metadata()
        yield "generation stays", str(who.generation_id == generation).lower()
        yield "the instance", f"Optional[{who.instance_id}]"
        with member(servers, "ours-static", "c", **named) as thief:
            _settle(thief)
            yield "whose name was taken", wait_for("fencing", lambda: _refusal(again))


def _refusal(member: Member) -> str:
    try:
        member.consumer.poll(SHORT_MS)
    except BrokerError as error:
        return error.code.name
    return ""


def _settle(*members: Member) -> None:
    """Until each has a share, and nothing is left over."""

    def shares() -> list[int]:
        for each in members:
            each.consumer.poll(SHORT_MS)
        return [len(each.consumer.assignment()) for each in members]

    def is_all(shares: list[int]) -> bool:
        return all(shares) and sum(shares) == PARTITIONS * len(TOPICS)

    wait_for(f"shares for {len(members)}", shares, is_all)


def _wait_for_one_generation(*members: Member) -> None:
    """A leader of ours hands out shares before its program polls, which then hears of its own."""

    def generations() -> set[int]:
        for each in members:
            each.consumer.poll(SHORT_MS)
        return {each.consumer.group_metadata().generation_id for each in members}

    wait_for("one generation", generations, lambda found: len(found) == 1)


def _named(places: Sequence[TopicPartition] | frozenset[TopicPartition]) -> str:
    return f"[{', '.join(sorted(map(str, places)))}]"
