"""What the replicas of a partition do, command by command."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from logquake.node.replication.fetch_sessions import FetchContext
from logquake.node.replication.partition.isr import CommittedIsr
from logquake.node.replication.settings import TopicConfig
from logquake.node.replication.values import (
    DeletedRecords,
    FetchParams,
    FetchPartition,
    FetchResult,
    Isolation,
    PartitionRead,
    ProduceEntry,
    ProduceResult,
)
from logquake.wire.errors import ErrorCode
from logquake.wire.records import (
    Record,
    encode_batch,
    encode_message_set,
    iterate_batches,
    iterate_records,
)
from tests.golden.partition.world import ControlState, World
from tests.golden.player import Player, check_script, scripts_beside
from tests.parts import bytes_of

ISOLATIONS = {
    "replica": Isolation.LOG_END,
    "committed": Isolation.TXN_COMMITTED,
    "uncommitted": Isolation.HIGH_WATERMARK,
}


@pytest.mark.parametrize("script", scripts_beside(__file__), ids=lambda path: path.stem)
def test_script(script: Path) -> None:
    check_script(script, PartitionPlayer())


class PartitionPlayer(Player):
    def __init__(self) -> None:
        self.world = World()
        self._labels = count(1)

    def outcome(self) -> list[str]:
        self.world.settle()
        return self.world.take_log()

    # --- the surroundings

    def do_topic(self, topic: str, min_isr: str = "1", flush: str = "") -> None:
        config = TopicConfig(min_insync_replicas=int(min_isr))
        if flush:
            config = replace(config, log=replace(config.log, flush_messages=int(flush)))
        self.world.configs[topic] = config
        for node in self.world.nodes.values():
            node.replicas.update_topic_config(topic, config)

    def do_start(self, *brokers: str) -> None:
        for broker in brokers:
            self.world.start(int(broker))

    def do_crash(self, *brokers: str, wipe: str = "no") -> None:
        for broker in brokers:
            self.world.crash(int(broker), wipe=wipe == "yes")

    def do_old_log(self, name: str, broker: str, *values: str, mark: str) -> None:
        """A log of message sets, from before the broker was upgraded."""
        records = [Record(i, 1_700_000_000_000, None, v.encode(), ()) for i, v in enumerate(values)]
        self.world.write_old_log(int(broker), name, encode_message_set(records, 1), int(mark))

    def do_alive(self, *brokers: str) -> None:
        self.world.set_alive(map(int, brokers))

    def do_cut(self, one: str, other: str) -> None:
        self.world.sever(int(one), int(other))

    def do_heal(self) -> None:
        self.world.cut.clear()

    def do_trace(self, switch: str) -> None:
        self.world.tracing = switch == "on"

    def do_pass(self, duration_ms: str) -> None:
        self.world.pass_time(int(duration_ms))

    def do_disk(self, broker: str, state: str) -> None:
        disk = self.world.nodes[int(broker)].disk
        if state == "fails":
            disk.fail_at(1, OSError(errno.EIO, "I/O error"), lasting=True)
        elif state == "unreadable":
            disk.fail_read_at(1, OSError(errno.EIO, "I/O error"), lasting=True)
        else:
            disk.heal()

    # --- the controller

    def do_assign(
        self, name: str, leader: str, *, isr: str, replicas: str = "", epoch: str = "", to: str = ""
    ) -> None:
        """The controller's decision on a partition, told to all of its running replicas."""
        known = self.world.states.get(name)
        members = _ids(isr)
        state = ControlState(
            int(leader),
            int(epoch) if epoch else (known.leader_epoch + 1 if known else 0),
            known.version + 1 if known else 0,
            members,
            _ids(replicas) if replicas else (known.replicas if known else members),
        )
        self.world.states[name] = state
        told = _ids(to) if to else [b for b in state.replicas if b in self.world.nodes]
        self.world.command(name, told)

    def do_tell(self, name: str, *brokers: str, controller_epoch: str = "1") -> None:
        """The present decision, told (again) to these brokers."""
        self.world.command(name, map(int, brokers), int(controller_epoch))

    def do_stop(self, name: str, broker: str, epoch: str = "-2", delete: str = "no") -> None:
        self.world.stop_replica(name, int(broker), int(epoch), delete=delete == "yes")

    def do_controller(self, answer: str) -> None:
        self.world.controller_answer = answer

    def do_answer(self, how: str) -> None:
        self.world.answer_held(how)

    # --- requests

    def do_produce(
        self,
        name: str,
        broker: str,
        *values: str,
        acks: str = "all",
        timeout: str = "30000",
        pid: str = "-1",
        seq: str = "-1",
    ) -> None:
        label = f"produce#{next(self._labels)}"
        records = [Record(i, 1_700_000_000_000, None, v.encode(), ()) for i, v in enumerate(values)]
        batch = encode_batch(
            records,
            producer_id=int(pid),
            producer_epoch=-1 if pid == "-1" else 0,
            base_sequence=int(seq),
        )
        topic, index = _partition(name)

        def done(results: list[ProduceResult]) -> None:
            (result,) = results
            detail = f" ({result.error_message})" if result.error_message else ""
            self.world.log(f"{label} {result.error.name} base {result.base_offset}{detail}")

        self.world.nodes[int(broker)].replicas.appends.add(
            [ProduceEntry(topic, index, memoryview(batch))],
            {"all": -1}.get(acks) or int(acks),
            int(timeout),
            done,
        )

    def do_fetch(
        self,
        name: str,
        broker: str,
        *,
        at: str,
        replica: str = "-1",
        incarnation: str = "-1",
        epoch: str = "-1",
        last: str = "-1",
        wait: str = "0",
        min: str = "1",
        isolation: str = "",
        any_replica: str = "no",
    ) -> None:
        label = f"fetch#{next(self._labels)}"
        topic, index = _partition(name)
        isolation = isolation or ("replica" if int(replica) >= 0 else "uncommitted")
        params = FetchParams(
            int(replica),
            int(incarnation),
            int(wait),
            int(min),
            1 << 20,
            ISOLATIONS[isolation],
            only_leader=any_replica != "yes",
        )
        asked = FetchPartition(
            (topic, index), topic, bytes(16), index, int(at), 1 << 20, int(epoch), int(last), 0
        )

        def done(reads: Sequence[PartitionRead]) -> None:
            self.world.log(f"{label} {_describe(reads[0].result)}")

        self.world.nodes[int(broker)].replicas.fetches.fetch(params, FetchContext([asked]), done)

    def do_delete(self, name: str, broker: str, *, before: str) -> None:
        """DeleteRecords: the log is to start at this offset."""
        label = f"delete#{next(self._labels)}"

        def done(results: list[DeletedRecords]) -> None:
            self.world.log(f"{label} {results[0].error.name} low {results[0].low_watermark}")

        asked = [(*_partition(name), int(before))]
        self.world.nodes[int(broker)].replicas.deletions.delete(asked, 30_000, done)

    def do_offsets(
        self, name: str, broker: str, at: str, *, isolation: str = "uncommitted"
    ) -> None:
        topic, index = _partition(name)
        special = {"latest": -1, "earliest": -2, "largest": -3}
        found = self.world.nodes[int(broker)].replicas.list_offset(
            topic, index, special.get(at) or int(at), isolation=ISOLATIONS[isolation]
        )
        self.world.log(f"{found.error.name} offset {found.offset} epoch {found.leader_epoch}")

    def do_epoch_end(self, name: str, broker: str, epoch: str, *, current: str = "-1") -> None:
        topic, index = _partition(name)
        end = self.world.nodes[int(broker)].replicas.end_offset_for_epoch(
            topic, index, int(current), int(epoch)
        )
        self.world.log(f"{end.error.name} epoch {end.leader_epoch} ends at {end.end_offset}")

    def do_show(self, name: str) -> None:
        """Every running broker's replica, in one line each."""
        topic, index = _partition(name)
        for broker, node in sorted(self.world.nodes.items()):
            partition = node.replicas.partition(topic, index)
            if partition is not None:
                self.world.log(f"{broker} {_state(partition)}")

    def do_log(self, name: str, broker: str) -> None:
        """What a broker's log holds: offset:value@epoch."""
        partition: Any = self.world.nodes[int(broker)].replicas.partition(*_partition(name))
        read = partition.replica.log.read
        view = memoryview(
            read(partition.replica.start, 1 << 20, up_to=partition.replica.end).read()
        )
        self.world.log(f"{broker} {' '.join(_values(view)) or '-'}")


def _partition(name: str) -> tuple[str, int]:
    topic, _, index = name.rpartition("-")
    return topic, int(index)


def _ids(text: str) -> list[int]:
    return [int(each) for each in text.split(",") if each]


def _values(view: memoryview) -> list[str]:
    return [
        f"{record.offset}:{(record.value or b'').decode()}@{header.partition_leader_epoch}"
        for position, header in iterate_batches(view)
        for record in iterate_records(view, position, header, 1 << 20)
    ]


def _describe(result: FetchResult) -> str:
    if result.error is not ErrorCode.NONE:
        hint = result.current_leader
        leader = f" (leader {hint.leader_id} epoch {hint.leader_epoch})" if hint else ""
        return result.error.name + leader
    if result.diverging_epoch is not None:
        end = result.diverging_epoch
        return f"diverging epoch {end.leader_epoch} ends {end.end_offset}"
    values = _values(memoryview(bytes_of(result.records))) if result.records else []
    return f"[{' '.join(values)}] hw {result.high_watermark} start {result.log_start_offset}"


def _state(partition: Any) -> str:
    replica = partition.replica
    text = f"{type(partition.role).__name__.lower()} epoch {partition.leader_epoch}"
    leader = partition.leader
    if leader is not None:
        text += f" isr {list(leader.isr.committed)}"
        if not isinstance(leader.isr, CommittedIsr):
            text += f" pending {list(leader.isr.proposed)}"
    start = f" start {replica.start}" if replica.start else ""
    return f"{text}{start} end {replica.end} hw {replica.high_watermark}"
