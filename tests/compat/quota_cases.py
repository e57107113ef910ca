"""What is asked about client quotas, of a real broker and of ours, one after the other.

What Kafka 3.9.1 answers, and leaves in ZooKeeper, is kept in tests/wire/vectors/quotas-3.9.1.jsonl;
test_quotas_beside_kafka.py asks a Kafka again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from logquake.wire.messages.quotas import (
    AlterClientQuotasRequest,
    AlterClientQuotasRequestEntryData,
    AlterClientQuotasResponse,
    ComponentData,
    DescribeClientQuotasRequest,
    DescribeClientQuotasResponse,
    DescribeClientQuotasResponseEntryData,
    EntityData,
    OpData,
)
from logquake.wire.schema import Message
from tests.compat.config_cases import Case

VECTORS = Path(__file__).parents[1] / "wire" / "vectors" / "quotas-3.9.1.jsonl"
PRODUCED, FETCHED = "producer_byte_rate", "consumer_byte_rate"
TIME, MUTATIONS = "request_percentage", "controller_mutation_rate"
CONNECTIONS = "connection_creation_rate"
EXACT, DEFAULT, SPECIFIED = 0, 1, 2

Entity = Mapping[str, str | None]
Component = tuple[str, int, str | None]


def cases() -> Iterator[Case]:
    """In this order, of a broker without any quotas."""
    yield from _refused()
    yield from _set()
    yield from _filters()
    yield from _removed()


def _refused() -> Iterator[Case]:
    for entity in (
        {},
        {"group": "g"},
        {"user": ""},
        {"client-id": ""},
        {"ip": ""},
        {"user": "u", "ip": "127.0.0.9"},
        {"client-id": "c", "ip": None},
        {"user": "u", "client-id": "c", "ip": "127.0.0.9"},
        {"ip": "no such host.invalid"},
        {"ip": "::1"},
        {"ip": "300.0.0.1"},
    ):
        yield _alter(entity, {CONNECTIONS: 5.0})
    for entity, values in (
        ({"user": "u"}, {CONNECTIONS: 1.0}),
        ({"user": "u"}, {"no.such.key": 1.0}),
        ({"user": "u"}, {"SCRAM-SHA-256": 1.0}),
        ({"user": "u", "client-id": "c"}, {"SCRAM-SHA-512": 1.0}),
        ({"client-id": "c"}, {"SCRAM-SHA-256": 1.0}),
        ({"user": "u"}, {PRODUCED: 1.5}),
        ({"user": "u"}, {PRODUCED: float("nan")}),
        ({"user": "u"}, {FETCHED: 1e300}),
        ({"ip": "127.0.0.9"}, {CONNECTIONS: 0.5}),
        ({"ip": "127.0.0.9"}, {CONNECTIONS: 2.0**31}),
        ({"ip": "127.0.0.9"}, {CONNECTIONS: -1.0}),
        ({"ip": "127.0.0.9"}, {PRODUCED: 1.0}),
        ({"ip": "127.0.0.9"}, {"no.such.key": None}),
        ({"user": "u"}, {"no.such.key": None}),
    ):
        yield _alter(entity, values)
    yield _alter({"user": "u"}, {PRODUCED: 5.0}, only_check=True)
    yield _alter({"user": "u"}, {"no.such.key": 5.0}, only_check=True)
    yield _alter({"ip": "127.0.0.9"}, {CONNECTIONS: -1.0}, only_check=True)
    yield Case("alter nothing", 1, AlterClientQuotasRequest())


def _set() -> Iterator[Case]:
    for version in range(2):
        yield _alter({"user": "alice"}, {PRODUCED: 1000.0 + version}, version)
    yield _alter({"user": "alice"}, {FETCHED: 2e9, TIME: 12.5, MUTATIONS: 0.001})
    yield _alter({"user": "alice", "client-id": "app"}, {PRODUCED: 2.0**63, TIME: 1e7})
    yield _alter({"user": "alice", "client-id": None}, {TIME: 1e-4})
    yield _alter({"user": None, "client-id": "app"}, {TIME: float("nan")})
    yield _alter({"user": None, "client-id": None}, {TIME: float("inf")})
    yield _alter({"user": None}, {PRODUCED: 0.0, FETCHED: -1.0})
    yield _alter({"client-id": "app"}, {PRODUCED: 1000.0000005})
    yield _alter({"client-id": None}, {PRODUCED: 1.0, FETCHED: 2.0, TIME: 3.0, MUTATIONS: 4.0})
    yield _alter({"user": "CN=ü b,O=*~+/%<default>"}, {TIME: 100.0})
    yield _alter({"user": "<default>"}, {TIME: 7.0})
    yield _alter({"client-id": "a b/c"}, {TIME: 200.0})
    yield _alter({"ip": "127.0.0.9"}, {CONNECTIONS: 9.0})
    yield _alter({"ip": "localhost"}, {CONNECTIONS: 8.0})
    yield _alter({"ip": None}, {CONNECTIONS: 0.0})
    yield _several(
        [
            ({"user": "bob"}, {PRODUCED: 5.0}),
            ({"user": "bob", "client-id": "app"}, {PRODUCED: 5.0}),
            ({"user": "bob"}, {"no.such.key": 5.0}),
        ]
    )


def _filters() -> Iterator[Case]:
    by_user = [("user", EXACT, "alice"), ("user", DEFAULT, None), ("user", SPECIFIED, None)]
    by_client = [
        ("client-id", EXACT, "app"),
        ("client-id", DEFAULT, None),
        ("client-id", SPECIFIED, None),
    ]
    by_ip = [("ip", EXACT, "127.0.0.9"), ("ip", DEFAULT, None), ("ip", SPECIFIED, "unused")]
    alone: list[list[Component]] = [[each] for each in (*by_user, *by_client, *by_ip)]
    together: list[list[Component]] = [[one, other] for one in by_user for other in by_client]
    refused: list[list[Component]] = [
        [("user", EXACT, "alice"), ("user", SPECIFIED, None)],
        [("client-id", EXACT, "app"), ("client-id", DEFAULT, None)],
        [("ip", EXACT, "127.0.0.9"), ("ip", EXACT, "127.0.0.9")],
        [("ip", SPECIFIED, None), ("user", SPECIFIED, None)],
        [("client-id", DEFAULT, None), ("ip", DEFAULT, None)],
        [("", EXACT, "x")],
        [("group", EXACT, "x")],
        [("user", 3, None)],
        [("user", -1, "alice")],
        [("user", EXACT, None)],
    ]
    nobody: list[list[Component]] = [
        [("user", EXACT, "nobody")],
        [("client-id", EXACT, "")],
        [("user", EXACT, "")],
        [("ip", EXACT, "")],
        [("user", EXACT, ""), ("client-id", EXACT, "app")],
        [("user", EXACT, "alice"), ("client-id", EXACT, "")],
        [("user", SPECIFIED, None), ("client-id", EXACT, "")],
        [("user", EXACT, "<default>")],
        [("ip", EXACT, "::1")],
    ]
    for strict in (False, True):
        for components in ([], *alone, *together, *refused, *nobody):
            yield _describe(components, strict=strict)
    yield _describe([], 0)
    yield _describe([("group", EXACT, "x")], 0)


def _removed() -> Iterator[Case]:
    yield _alter({"user": "alice"}, {PRODUCED: None, FETCHED: None, TIME: None, MUTATIONS: None})
    yield _alter({"user": "alice", "client-id": "app"}, {PRODUCED: None, TIME: None})
    yield _alter({"user": "alice", "client-id": None}, {TIME: None})
    yield _alter({"user": "bob", "client-id": "app"}, {PRODUCED: None})
    yield _alter({"user": "bob"}, {PRODUCED: None})
    yield _alter({"user": None, "client-id": "app"}, {TIME: None})
    yield _alter({"user": None, "client-id": None}, {TIME: None})
    yield _alter({"user": None}, {PRODUCED: None})
    yield _alter({"client-id": "app"}, {PRODUCED: None})
    yield _alter({"ip": "127.0.0.9"}, {CONNECTIONS: None})
    yield _alter({"user": "nobody", "client-id": "nothing"}, {PRODUCED: None})
    yield _describe([("client-id", SPECIFIED, None)], 0)
    yield _describe([("user", SPECIFIED, None)], 0)


def _alter(
    entity: Entity,
    values: Mapping[str, float | None],
    version: int = 1,
    *,
    only_check: bool = False,
) -> Case:
    verb = "check" if only_check else "alter"
    request = AlterClientQuotasRequest(entries=[_entry(entity, values)], validate_only=only_check)
    return Case(f"{verb} {entity}: {values}, version {version}", version, request)


def _several(changes: Sequence[tuple[Entity, Mapping[str, float | None]]]) -> Case:
    entries = [_entry(entity, values) for entity, values in changes]
    return Case("alter several", 1, AlterClientQuotasRequest(entries=entries))


def _entry(entity: Entity, values: Mapping[str, float | None]) -> AlterClientQuotasRequestEntryData:
    return AlterClientQuotasRequestEntryData(
        entity=[EntityData(entity_type=type_, entity_name=name) for type_, name in entity.items()],
        ops=[
            OpData(key=key, value=value or 0.0, remove=value is None)
            for key, value in values.items()
        ],
    )


def _describe(components: Sequence[Component], version: int = 1, *, strict: bool = False) -> Case:
    request = DescribeClientQuotasRequest(
        components=[
            ComponentData(entity_type=type_, match_type=match_type, match=match)
            for type_, match_type, match in components
        ],
        strict=strict,
    )
    only = "only " if strict else ""
    return Case(f"describe {only}{list(components)}, version {version}", version, request)


# Answers and znodes as text


def readable(answer: Message) -> list[str]:
    """In an order of its own, since Kafka's maps have none."""
    if isinstance(answer, DescribeClientQuotasResponse):
        head = f"{answer.error_code} {answer.error_message!r} {answer.entries is not None}"
        return [head, *sorted(map(_described, answer.entries or []))]
    assert isinstance(answer, AlterClientQuotasResponse)
    return sorted(
        f"{_entity(one.entity)} {one.error_code} {one.error_message!r}" for one in answer.entries
    )


def _described(entry: DescribeClientQuotasResponseEntryData) -> str:
    values = sorted(f"{each.key}={each.value!r}" for each in entry.values)
    return f"{_entity(entry.entity)} {values}"


def _entity(entity: Sequence[EntityData]) -> dict[str, str | None]:
    return {each.entity_type: each.entity_name for each in entity}


def znodes(children: Callable[[str], Sequence[str]], data: Callable[[str], bytes]) -> Iterator[str]:
    """All that is set, and the last notice of it."""
    for kind in ("/config/clients", "/config/ips", "/config/users"):
        yield from _below(kind, children, data)
    changes = sorted(children("/config/changes"))
    yield f"{len(changes)} changes"
    if changes:
        yield data(f"/config/changes/{changes[-1]}").decode()


def _below(
    path: str, children: Callable[[str], Sequence[str]], data: Callable[[str], bytes]
) -> Iterator[str]:
    for name in sorted(children(path)):
        below = f"{path}/{name}"
        yield f"{below} {data(below).decode()}"
        yield from _below(below, children, data)


def store(answers: Mapping[str, Sequence[str]]) -> None:
    lines = [json.dumps({"case": name, "answer": answer}) for name, answer in answers.items()]
    VECTORS.write_text("\n".join(lines) + "\n")


def stored() -> dict[str, list[str]]:
    lines = (json.loads(line) for line in VECTORS.read_text().splitlines())
    return {line["case"]: line["answer"] for line in lines}
