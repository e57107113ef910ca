from __future__ import annotations

import json
from pathlib import Path

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.layout import Layout
from logquake.cluster.spec import (
    ClusterSpec,
    broker_properties,
    format_properties,
    parse_assignments,
)
from logquake.node.settings import parse_properties


def properties(spec: ClusterSpec) -> dict[str, str]:
    return broker_properties(spec, 2, port=9093, zookeeper="127.0.0.1:2181", data=[Path("/data")])


def test_a_broker_is_told_who_it_is_and_where() -> None:
    found = properties(ClusterSpec())
    assert found["broker.id"] == "2"
    assert found["listeners"] == "PLAINTEXT://127.0.0.1:9093"
    assert found["log.dirs"] == "/data"
    assert found["zookeeper.connect"] == "127.0.0.1:2181"


@pytest.mark.parametrize(
    ("brokers", "replicas", "in_sync"), [(1, "1", "1"), (2, "2", "2"), (5, "3", "2")]
)
def test_replication_follows_the_number_of_brokers(
    brokers: int, replicas: str, in_sync: str
) -> None:
    found = properties(ClusterSpec(brokers=brokers))
    assert found["default.replication.factor"] == replicas
    assert found["offsets.topic.replication.factor"] == replicas
    assert found["transaction.state.log.replication.factor"] == replicas
    assert found["min.insync.replicas"] == in_sync
    assert found["transaction.state.log.min.isr"] == in_sync


def test_a_starting_broker_waits_for_zookeeper_as_in_kafkas_stock_properties() -> None:
    """However short the session is, from which it would follow otherwise."""
    asked = ClusterSpec(config={"zookeeper.session.timeout.ms": "2000"})
    assert properties(asked)["zookeeper.connection.timeout.ms"] == "18000"


def test_the_user_wins_over_the_preset_and_the_preset_over_kafka() -> None:
    assert properties(ClusterSpec())["zookeeper.session.timeout.ms"] == "8000"
    assert properties(ClusterSpec())["logquake.failover.on.refusal"] == "true"
    as_kafka = properties(ClusterSpec(preset="kafka_defaults"))
    assert not as_kafka.keys() & {"zookeeper.session.timeout.ms", "logquake.failover.on.refusal"}
    asked = ClusterSpec(config={"zookeeper.session.timeout.ms": "4000"})
    assert properties(asked)["zookeeper.session.timeout.ms"] == "4000"


def test_kafkas_defaults_mute_connections_as_kafka_does() -> None:
    key = "logquake.produce.pipelining"
    assert properties(ClusterSpec(preset="kafka_defaults"))[key] == "none"
    assert key not in properties(ClusterSpec())


def test_what_the_launcher_decides_cannot_be_set() -> None:
    with pytest.raises(ClusterError, match=r"^listeners is set by the launcher"):
        ClusterSpec(config={"listeners": "PLAINTEXT://:1"})


def test_several_log_directories_are_named_in_one_line() -> None:
    dirs = Layout(Path("/state")).data_dirs(2, 3)
    found = broker_properties(ClusterSpec(log_dirs=3), 2, port=1, zookeeper="", data=dirs)
    data = "/state/broker-2/data"
    assert found["log.dirs"] == f"{data},{data}-2,{data}-3"


def test_a_broker_needs_a_log_directory() -> None:
    with pytest.raises(ClusterError, match="0 log directories: a broker needs at least one"):
        ClusterSpec(log_dirs=0)


def test_a_spec_comes_back_from_its_document() -> None:
    spec = ClusterSpec(name="a", brokers=2, port=None, config={"k": "v"}, zookeeper="z:1")
    assert ClusterSpec.from_json(spec.to_json()) == spec


def test_a_document_of_another_version_is_refused() -> None:
    with pytest.raises(ClusterError, match="another version"):
        ClusterSpec.from_json({"shards": 3})


def test_assignments_keep_an_equals_sign_in_the_value() -> None:
    assert parse_assignments(["a=b=c", " k = v "]) == {"a": "b=c", "k": "v"}


@pytest.mark.parametrize("text", ["a", "=b", ""])
def test_what_is_no_assignment_is_refused(text: str) -> None:
    with pytest.raises(ClusterError, match="write -c key=value"):
        parse_assignments([text])


def test_any_value_survives_the_properties_file() -> None:
    written = {"path": "C:\\kafka", "spaced": "  x", "lines": "a\nb", "sign": "a=b", "empty": ""}
    assert parse_properties(format_properties(written)) == written


def test_what_links_decide_is_not_set_besides() -> None:
    config = {"advertised.listeners": "PLAINTEXT://example.org:1"}
    assert ClusterSpec(config=config).config == config
    with pytest.raises(ClusterError, match=r"advertised\.listeners is set by the launcher"):
        ClusterSpec(config=config, links=True)


def test_who_came_and_went_is_kept_and_no_id_is_had_twice_by_chance() -> None:
    spec = ClusterSpec(brokers=3, port=9092)
    assert (spec.next_id, spec.port_of(4)) == (4, 9095)
    later = spec.with_broker(4).without_broker(2).without_broker(4)
    assert (later.broker_ids, later.next_id) == ((1, 3), 5)
    assert ClusterSpec.from_json(json.loads(json.dumps(later.to_json()))) == later
    assert later.with_broker(2).with_broker(9).broker_ids == (1, 2, 3, 9)


def test_ids_that_cannot_be_are_refused() -> None:
    with pytest.raises(ClusterError, match="there is a broker 1"):
        ClusterSpec().with_broker(1)
    with pytest.raises(ClusterError, match="-1 is no broker's id"):
        ClusterSpec().with_broker(-1)
    with pytest.raises(ClusterError, match="broker 1 is the only one"):
        ClusterSpec(brokers=1).without_broker(1)
