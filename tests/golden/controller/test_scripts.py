"""What the elected controller does, command by command."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from logquake.controller.events.elect_leaders import ElectionRequest, ElectionType, Results
from logquake.controller.settings import ControllerSettings
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.broker_to_controller import (
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    AlterPartitionRequest,
    AlterPartitionRequestPartitionData,
    AlterPartitionRequestTopicData,
    AlterPartitionResponse,
    BrokerState,
    ControlledShutdownRequest,
    ControlledShutdownResponse,
)
from logquake.wire.messages.topics import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsResponse,
    CreatePartitionsTopic,
    CreateTopicsRequest,
    DeleteTopicsRequest,
)
from logquake.wire.topic_partition import TopicPartition
from logquake.wire.uuids import ZERO_UUID
from logquake.zk.operations import Create, Delete, SetData
from logquake.zk.znodes.admin import LogDirFailure
from logquake.zk.znodes.brokers import BrokerRegistration, ListenerEndpoint
from logquake.zk.znodes.configs import EntityConfig, topic_entity
from logquake.zk.znodes.topics import TopicAssignment
from tests.golden.controller.world import World
from tests.golden.player import Player, check_script, scripts_beside


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, ControllerPlayer())


class ControllerPlayer(Player):
    def __init__(self) -> None:
        self._settings = ControllerSettings(auto_leader_rebalance_enable=False)
        self._world: World | None = None
        self._crashed: dict[str, int] = {}

    @property
    def world(self) -> World:
        """Made with the first command that needs it: its settings are known by then."""
        if self._world is None:
            self._world = World(self._settings)
        return self._world

    def outcome(self) -> list[str]:
        if self._world is None:
            return []
        self.world.settle()
        return self.world.take_log()

    # --- the surroundings

    def do_settings(self, **options: str) -> None:
        values: dict[str, Any] = {key: value == "true" for key, value in options.items()}
        self._settings = replace(self._settings, **values)

    def do_start(self, *brokers: str) -> None:
        for broker in brokers:
            broker_id, _, rack = broker.partition("@")
            self.world.start(int(broker_id), rack or None)

    def do_kill(self, *brokers: str) -> None:
        for broker in brokers:
            self.world.kill(int(broker))

    def do_crash(self, broker: str) -> None:
        self._crashed[broker] = self.world.crash(int(broker))

    def do_end_session(self, broker: str) -> None:
        """Of a broker that crashed."""
        self.world.server.expire(self._crashed.pop(broker))

    def do_start_deaf(self, broker: str) -> None:
        """It registers, and does not listen yet."""
        self.world.deaf.add(int(broker))
        self.world.start(int(broker))

    def do_close_listener(self, broker: str) -> None:
        self.world.close_listener(int(broker))

    def do_open_listener(self, broker: str) -> None:
        self.world.deaf.discard(int(broker))

    def do_write_registration_again(self, broker: str) -> None:
        path = BrokerRegistration.path(int(broker))
        self.world.write(SetData(path, self.world.written(path)))

    def do_pause(self, broker: str) -> None:
        self.world.nodes[int(broker)].paused = True

    def do_resume(self, broker: str) -> None:
        self.world.nodes[int(broker)].paused = False

    def do_expire(self, broker: str) -> None:
        self.world.server.expire(self.world.nodes[int(broker)].model_session.session_id)

    def do_disconnect(self, broker: str) -> None:
        self.world.nodes[int(broker)].model_session.disconnect()

    def do_expire_before(self, broker: str, path: str) -> None:
        self._befall(broker, path, lambda: self.do_expire(broker))

    def do_expire_after(self, broker: str, path: str) -> None:
        self.world.nodes[int(broker)].befall(path, after=lambda: self.do_expire(broker))

    def do_disconnect_after(self, broker: str, path: str) -> None:
        self.world.nodes[int(broker)].befall(path, after=lambda: self.do_disconnect(broker))

    def do_disconnect_reading(self, broker: str, path: str) -> None:
        node = self.world.nodes[int(broker)]
        node.befall(path, of_reads=True, after=lambda: self.do_disconnect(broker))

    def do_reconnect(self, broker: str) -> None:
        self.world.nodes[int(broker)].model_session.reconnect()

    def do_unplug(self, broker: str) -> None:
        self.world.unreachable.add(int(broker))

    def do_plug(self, broker: str) -> None:
        self.world.unreachable.discard(int(broker))

    def do_silence(self, broker: str) -> None:
        self.world.silent.add(int(broker))

    def do_heal(self, broker: str) -> None:
        self.world.silent.discard(int(broker))

    def do_refuse(self, broker: str, request: str, code: str) -> None:
        self.world.refusals[int(broker), request] = ErrorCode[code]

    def do_comply(self, broker: str, request: str) -> None:
        del self.world.refusals[int(broker), request]

    def do_tick(self, duration_ms: str) -> None:
        self.world.pass_time(int(duration_ms))

    def do_resign(self, broker: str) -> None:
        self.world.nodes[int(broker)].controller.resign()

    def do_statistics(self) -> None:
        counted = asdict(self.world.active().statistics())
        self.world.log(", ".join(f"{name} {value}" for name, value in counted.items()))

    # --- znodes written by others

    def do_grow(self, topic: str, *partitions: str) -> None:
        path = TopicAssignment.path(topic)
        known = TopicAssignment.decode(self.world.written(path))
        grown = replace(known, partitions=_partitions(partitions))
        self.world.write(SetData(path, grown.encode()))

    def do_configure(self, topic: str, **config: str) -> None:
        named = {key.replace("_", "."): value for key, value in config.items()}
        path = EntityConfig.path(topic_entity(topic))
        self.world.write(SetData(path, EntityConfig(named).encode()))
        self.world.active().enable_unclean_election(topic)

    def do_move(self, broker: str, host: str) -> None:
        endpoint = ListenerEndpoint(host, 9092)
        data = BrokerRegistration(int(broker), (endpoint,), 0).encode()
        self.world.write(SetData(BrokerRegistration.path(int(broker)), data))

    def do_fail_log_dir(self, broker: str) -> None:
        failure = LogDirFailure(int(broker))
        self.world.write(Create(failure.path(), failure.encode(), sequential=True))

    def do_remove(self, path: str) -> None:
        self.world.write(Delete(path))

    def do_overwrite(self, path: str, data: str) -> None:
        self.world.write(SetData(path, data.encode()))

    def do_meddle(self, broker: str, path: str, data: str) -> None:
        """Somebody writes the znode just before the broker does."""
        self._befall(broker, path, lambda: self.do_overwrite(path, data))

    def do_vanish(self, broker: str, path: str) -> None:
        """Somebody deletes the znode just before the broker writes it."""
        self._befall(broker, path, lambda: self.do_remove(path))

    def _befall(self, broker: str, path: str, before: Callable[[], None]) -> None:
        self.world.nodes[int(broker)].befall(path, before=before)

    def do_write(self, path: str, data: str = "") -> None:
        self.world.write(Create(path, data.encode()))

    # --- requests

    def do_create(
        self, topic: str, *partitions: str, count: str = "-1", factor: str = "-1", **rest: str
    ) -> None:
        check = rest.pop("validate_only", "false") == "true"
        placed = _partitions(partitions)
        request = CreateTopicsRequest(
            topics=[
                CreatableTopic(
                    name=topic,
                    num_partitions=int(count),
                    replication_factor=int(factor),
                    assignments=[
                        CreatableReplicaAssignment(partition_index=number, broker_ids=list(ids))
                        for number, ids in placed.items()
                    ],
                    configs=[
                        CreatableTopicConfig(name=key.replace("_", "."), value=value)
                        for key, value in rest.items()
                    ],
                )
            ],
            validate_only=check,
        )
        self.world.active().create_topics(request, self._created)

    def do_create_each(self, *topics: str) -> None:
        wanted = [CreatableTopic(name=t, num_partitions=1, replication_factor=1) for t in topics]
        self.world.active().create_topics(CreateTopicsRequest(topics=wanted), self._created)

    def _created(self, response: Any) -> None:
        for each in response.topics:
            code = ErrorCode(each.error_code).name
            detail = each.error_message or f"{each.num_partitions} x {each.replication_factor}"
            self.world.log(f"answer CreateTopics {each.name} {code} {detail}")

    def do_add_partitions(
        self, topic: str, count: str, *partitions: str, validate_only: str = "false"
    ) -> None:
        placed = _partitions(partitions).values()
        assignments = [CreatePartitionsAssignment(broker_ids=list(ids)) for ids in placed]
        request = CreatePartitionsRequest(
            topics=[
                CreatePartitionsTopic(
                    name=topic, count=int(count), assignments=assignments if placed else None
                )
            ],
            validate_only=validate_only == "true",
        )
        self.world.active().create_partitions(request, self._partitions_added)

    def _partitions_added(self, response: CreatePartitionsResponse) -> None:
        for each in response.results:
            code = ErrorCode(each.error_code).name
            self.world.log(f"answer CreatePartitions {each.name} {code} {each.error_message or ''}")

    def do_elect(self, type_: str, *partitions: str) -> None:
        named = [each.rpartition("-") for each in partitions]
        request = ElectionRequest(
            ElectionType[type_.upper()],
            [TopicPartition(topic, int(number)) for topic, _, number in named],
        )
        self.world.active().elect_leaders(request, self._elected)

    def _elected(self, results: Results) -> None:
        for partition, result in results.items():
            outcome = result.message or (f"leader {result.leader}" if not result.error else "")
            self.world.log(f"answer ElectLeaders {partition} {result.error.name} {outcome}")

    def do_delete(self, *topics: str) -> None:
        request = DeleteTopicsRequest(topic_names=list(topics))
        self.world.active().delete_topics(request, self._deleted)

    def _deleted(self, response: Any) -> None:
        for each in response.responses:
            code = ErrorCode(each.error_code).name
            self.world.log(f"answer DeleteTopics {each.name} {code}")

    def do_alter(
        self,
        partition: str,
        *,
        leader: str,
        epoch: str,
        version: str,
        isr: str,
        broker_epoch: str = "",
        recovery: str = "0",
    ) -> None:
        topic, _, index = partition.rpartition("-")
        known = TopicAssignment.decode(self.world.written(TopicAssignment.path(topic)))
        members = [member.partition("@")[::2] for member in isr.split(",")]
        request = AlterPartitionRequest(
            broker_id=int(leader),
            broker_epoch=int(broker_epoch or self.world.nodes[int(leader)].epoch),
            topics=[
                AlterPartitionRequestTopicData(
                    topic_id=known.topic_id or ZERO_UUID,
                    partitions=[
                        AlterPartitionRequestPartitionData(
                            partition_index=int(index),
                            leader_epoch=int(epoch),
                            new_isr_with_epochs=[
                                BrokerState(broker_id=int(each), broker_epoch=int(seen or -1))
                                for each, seen in members
                            ],
                            leader_recovery_state=int(recovery),
                            partition_epoch=int(version),
                        )
                    ],
                )
            ],
        )
        self.world.active().alter_partition(request, self._altered)

    def _altered(self, response: AlterPartitionResponse) -> None:
        if response.error_code:
            self.world.log(f"answer AlterPartition {ErrorCode(response.error_code).name}")
        for topic in response.topics:
            for each in topic.partitions:
                code = ErrorCode(each.error_code).name
                state = f"isr {each.isr} epoch {each.leader_epoch} v{each.partition_epoch}"
                self.world.log(f"answer AlterPartition {code} {'' if each.error_code else state}")

    def do_shutdown(self, broker: str, epoch: str = "") -> None:
        request = ControlledShutdownRequest(
            broker_id=int(broker), broker_epoch=int(epoch or self.world.nodes[int(broker)].epoch)
        )
        self.world.active().controlled_shutdown(request, self._shut_down)

    def _shut_down(self, response: ControlledShutdownResponse) -> None:
        remaining = [f"{p.topic_name}-{p.partition_index}" for p in response.remaining_partitions]
        code = ErrorCode(response.error_code).name
        self.world.log(f"answer ControlledShutdown {code} remaining {remaining}")

    def do_producer_ids(self, broker: str, epoch: str = "", of: str = "") -> None:
        """``of`` asks one broker, in office or not."""
        request = AllocateProducerIdsRequest(
            broker_id=int(broker), broker_epoch=int(epoch or self.world.nodes[int(broker)].epoch)
        )
        asked = self.world.nodes[int(of)].controller if of else self.world.active()
        asked.allocate_producer_ids(request, self._allocated)

    def _allocated(self, response: AllocateProducerIdsResponse) -> None:
        code = ErrorCode(response.error_code).name
        ids = f"{response.producer_id_len} from {response.producer_id_start}"
        self.world.log(f"answer AllocateProducerIds {code} {'' if response.error_code else ids}")


def _partitions(texts: tuple[str, ...]) -> dict[int, tuple[int, ...]]:
    """ "0:1,2,3" is partition 0 on brokers 1, 2 and 3."""
    placed = {}
    for text in texts:
        number, _, brokers = text.partition(":")
        placed[int(number)] = tuple(map(int, brokers.split(",")))
    return placed
