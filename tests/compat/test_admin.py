"""Our admin client on a cluster of several brokers, each asked what it alone knows or may do.

`test_admin_beside_java` has all calls, on one broker.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from threading import Thread
from typing import Any

import pytest

from logquake.client import Admin
from logquake.client.admin.cluster import ClusterDescription
from logquake.client.admin.configs import AlterConfigOp, ConfigResource, ConfigResourceType
from logquake.client.admin.log_dirs import TopicPartitionReplica
from logquake.client.admin.offsets import OffsetSpec
from logquake.client.admin.reassignments import ElectionType
from logquake.client.admin.topics import NewTopic
from logquake.client.aio import Admin as AioAdmin
from logquake.client.consumer.offsets import OffsetAndMetadata
from logquake.client.errors import (
    BrokerError,
    ClosedError,
    SettingsError,
    TimedOutError,
    UnsupportedVersionError,
)
from logquake.client.sync.futures import Future
from logquake.cluster.api import Cluster
from logquake.wire.errors import ErrorCode
from logquake.wire.topic_partition import TopicPartition
from tests.one_broker import held_ports
from tests.waiting import PATIENCE_S, wait_for

pytestmark = pytest.mark.slow

BROKERS = (1, 2, 3)


@pytest.fixture(scope="module")
def admin(cluster: Cluster) -> Iterator[Admin]:
    with Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        yield admin


def done(futures: Mapping[Any, Future[None]]) -> None:
    for future in futures.values():
        future.result(PATIENCE_S)


def test_each_item_has_an_outcome_of_its_own(admin: Admin, topic: Callable[..., str]) -> None:
    there = topic()
    created = admin.create_topics([NewTopic(there), NewTopic(f"{there}-new"), NewTopic("no/name")])
    error = created[there].exception(PATIENCE_S)
    assert isinstance(error, BrokerError)
    assert error.code is ErrorCode.TOPIC_ALREADY_EXISTS
    assert created[f"{there}-new"].result(PATIENCE_S).num_partitions == 1
    with pytest.raises(BrokerError, match="INVALID_TOPIC_EXCEPTION"):
        created["no/name"].result(PATIENCE_S)


def test_leaders_on_several_brokers_are_asked_about_their_partitions(
    admin: Admin, topic: Callable[..., str]
) -> None:
    name = topic(partitions=6, replicas=1)
    places = [TopicPartition(name, index) for index in range(6)]
    described = admin.describe_topics([name])[name].result(PATIENCE_S)
    assert {each.leader.id for each in described.partitions if each.leader} == set(BROKERS)
    offsets = admin.list_offsets(dict.fromkeys(places, OffsetSpec.LATEST))
    assert [offsets[place].result(PATIENCE_S).offset for place in places] == [0] * 6
    low = admin.delete_records(dict.fromkeys(places, 0))
    assert [low[place].result(PATIENCE_S).low_watermark for place in places] == [0] * 6


def test_coordinators_on_several_brokers_are_asked_about_their_groups(
    admin: Admin, topic: Callable[..., str]
) -> None:
    place = TopicPartition(topic(), 0)
    groups = [f"{place.topic}-{index}" for index in range(12)]
    for group in groups:
        done(admin.alter_consumer_group_offsets(group, {place: OffsetAndMetadata(7)}))
    described = admin.describe_consumer_groups(groups)
    assert len({described[group].result(PATIENCE_S).coordinator.id for group in groups}) > 1
    committed = admin.list_consumer_group_offsets(dict.fromkeys(groups))
    for group in groups:
        assert committed[group].result(PATIENCE_S) == {place: OffsetAndMetadata(7)}
    listed = admin.list_consumer_groups().result(PATIENCE_S)
    assert set(groups) <= {each.group_id for each in listed.all()}
    assert set(listed.found) == set(BROKERS)
    done(admin.delete_consumer_groups(groups))


def test_each_broker_tells_of_itself(admin: Admin, topic: Callable[..., str]) -> None:
    name = topic(partitions=1, replicas=3)
    of_brokers = [ConfigResource(ConfigResourceType.BROKER, str(each)) for each in BROKERS]
    changed = {
        each: [AlterConfigOp("log.cleaner.backoff.ms", str(each.name) * 4)] for each in of_brokers
    }
    done(admin.incremental_alter_configs(changed))
    for each in of_brokers:
        wait_for(f"setting of broker {each.name}", partial(_is_set, admin, each))
    place = TopicPartition(name, 0)
    dirs = admin.describe_log_dirs(BROKERS)
    for broker in BROKERS:
        (found,) = dirs[broker].result(PATIENCE_S).values()
        assert place in found.replica_infos
    replicas = [TopicPartitionReplica(name, 0, broker) for broker in BROKERS]
    where = admin.describe_replica_log_dirs(replicas)
    assert len({where[each].result(PATIENCE_S).current_dir for each in replicas}) == 3


def _is_set(admin: Admin, broker: ConfigResource) -> bool:
    found = admin.describe_configs([broker])[broker].result(PATIENCE_S)
    return found["log.cleaner.backoff.ms"].value == broker.name * 4


def test_a_partition_is_led_by_whom_it_is_meant_for(
    admin: Admin, topic: Callable[..., str]
) -> None:
    place = TopicPartition(topic(partitions=1, replicas=3), 0)
    elected = admin.elect_leaders(ElectionType.PREFERRED, [place]).result(PATIENCE_S)
    assert "ELECTION_NOT_NEEDED" in str(elected[place])


def test_what_a_broker_does_not_speak_is_refused(admin: Admin) -> None:
    """Ours move no partitions: KIP-455 is not served."""
    place = TopicPartition("any", 0)
    error = admin.alter_partition_reassignments({place: [1]})[place].exception(PATIENCE_S)
    assert isinstance(error, UnsupportedVersionError)


def test_another_controller_is_found(cluster: Cluster, admin: Admin) -> None:
    """A client that knew the one before is told that it is none, or finds it gone."""
    before = admin.describe_cluster().result(PATIENCE_S).controller
    assert before is not None
    with cluster.pause(before.id):
        created = admin.create_topics([NewTopic("under-another")])["under-another"]
        cluster.wait_controller(other_than=before.id)
    cluster.wait_ready()  # for the others: whoever was paused has lost its registration
    assert created.result(PATIENCE_S).num_partitions == 1


def test_what_takes_too_long_is_told_in_time(admin: Admin) -> None:
    error = admin.describe_log_dirs([77], timeout_ms=300)[77].exception(PATIENCE_S)
    assert isinstance(error, TimedOutError)


def test_nobody_listens() -> None:
    with held_ports(1) as (port,):
        pass
    with Admin(bootstrap_servers=f"127.0.0.1:{port}", default_api_timeout_ms=30_000) as admin:
        error = admin.list_topics(timeout_ms=300).exception(PATIENCE_S)
    assert isinstance(error, TimedOutError)


def test_what_only_krafts_clusters_answer_is_refused(admin: Admin) -> None:
    with pytest.raises(UnsupportedVersionError, match="KRaft"):
        admin.describe_metadata_quorum().result(PATIENCE_S)


def test_callers_on_many_threads_share_one(admin: Admin, topic: Callable[..., str]) -> None:
    name, found = topic(), []

    def describe() -> None:
        found.append(admin.describe_topics([name])[name].result(PATIENCE_S).name)

    threads = [Thread(target=describe) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert found == [name] * 8


def test_closing_waits_for_what_was_called_and_takes_no_more(cluster: Cluster) -> None:
    admin = Admin({"bootstrap.servers": cluster.bootstrap_servers})
    listed = admin.list_topics()
    admin.close()
    assert isinstance(listed.result(0), dict)
    with pytest.raises(ClosedError):
        admin.list_topics()
    admin.close()


def test_what_does_not_end_is_given_up_when_closing_has_no_time(cluster: Cluster) -> None:
    admin = Admin(bootstrap_servers=cluster.bootstrap_servers)
    waiting = admin.describe_log_dirs([77])[77]
    admin.close(timeout_ms=0)
    assert isinstance(waiting.exception(0), ClosedError)


def test_callbacks_hear_of_the_outcome_and_may_call_again(cluster: Cluster) -> None:
    heard: list[object] = []
    with Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:

        def and_again(future: Future[ClusterDescription]) -> None:
            heard.append(future.result(0))
            admin.describe_features().add_done_callback(lambda each: heard.append(each.result(0)))

        admin.describe_cluster().add_done_callback(and_again)
        wait_for("both", lambda: len(heard), lambda count: count == 2)


def test_what_was_asked_is_counted(cluster: Cluster) -> None:
    with Admin(bootstrap_servers=cluster.bootstrap_servers) as admin:
        admin.describe_cluster().result(PATIENCE_S)
        told = admin.metrics()["admin-client-metrics"]
    assert (told["request-total"], told["response-total"]) == (1, 1)
    assert told["request-latency-avg"] >= 0


def test_a_key_that_is_misspelt_is_refused() -> None:
    with pytest.raises(SettingsError, match=r"default\.api\.timeout\.ms"):
        Admin(bootstrap_servers="localhost:9092", default_api_timeout="5")


def test_on_asyncios_loop(cluster: Cluster) -> None:
    async def main() -> None:
        async with AioAdmin(bootstrap_servers=cluster.bootstrap_servers) as admin:
            created = admin.create_topics([NewTopic(f"on-loop-{each}") for each in range(5)])
            assert [(await each).num_partitions for each in created.values()] == [1] * 5
            found, listed = admin.describe_cluster(), admin.list_topics()
            assert "on-loop-0" in await listed
            assert len((await found).nodes) == len(BROKERS)
            deleted = admin.delete_topics(created)
            for each in deleted.values():
                await each
            with pytest.raises(TimedOutError):
                await admin.describe_log_dirs([77], timeout_ms=100)[77]
        with pytest.raises(ClosedError):
            admin.list_topics()

    asyncio.run(main())
