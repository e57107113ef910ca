"""DescribeClientQuotas and AlterClientQuotas are answered, and written, as Kafka 3.9.1 does."""

from __future__ import annotations

from collections.abc import Callable

from tests.compat.quota_cases import cases, readable, stored, znodes
from tests.unit.node.requests.lone_broker import LoneBroker


def written(broker: LoneBroker) -> list[str]:
    model = broker.zookeeper.model

    def data(path: str) -> bytes:
        found = model.data(path)
        assert found is not None
        return found.data

    return list(znodes(model.children, data))


def test_what_kafka_was_asked_is_answered_and_written_as_kafka_did(
    broker: LoneBroker, record_property: Callable[[str, object], None]
) -> None:
    """One after the other: what was altered shows itself in the answers that follow."""
    expected = stored()
    for case in cases():
        answer = broker.ask(case.request, case.version)
        broker.settle()
        assert readable(answer) + written(broker) == expected[case.name], case.name
        record_property("requests about client quotas are answered as a real Kafka did", 1)
