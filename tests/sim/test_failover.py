"""A dead leader is replaced before its session ends, and who only seemed dead comes back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from logquake.controller.channels.reachability import Reachability
from logquake.controller.context.live_broker import LiveBroker
from logquake.controller.office import failover, office
from logquake.controller.term import Term
from logquake.seams.network import Disconnected
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.schema import Message
from logquake.zk.znodes.brokers import BrokerRegistration
from tests.sim.clients import Client
from tests.sim.cluster import PARTITION, REPLICAS, Cluster
from tests.sim.settings import SESSION_TIMEOUT_MS
from tests.sim.world import hosted_controller

LEADER = 1
METADATA_VERSION = 12
STEADY_US = 3_000_000
PROMPT_US = 500_000  # messages of the simulation may take 120 ms, and elections take some
DEFAULTS = {"logquake.failover.on.refusal": "false"}


@dataclass
class Cut:
    """What a test sees of the cluster, and waits for."""

    cluster: Cluster
    asked: list[MetadataResponse] = field(default_factory=list)

    def steady(self) -> None:
        """Broker 1 leads, all are in sync, and connections have been held for a while."""
        self.cluster.run_until(lambda: set(self.isr()) == set(REPLICAS))
        self.cluster.run_until_us(STEADY_US)
        assert self.leader() == LEADER

    def leader(self) -> int:
        state = self.cluster.world.decisions.partitions[PARTITION].state
        return -1 if state is None else state.leader

    def isr(self) -> tuple[int, ...]:
        history = self.cluster.world.decisions.partitions.get(PARTITION)
        return () if history is None or history.state is None else history.state.isr

    def epoch_of(self, broker: int) -> int | None:
        node = self.cluster.zookeeper.model.data(BrokerRegistration.path(broker))
        return None if node is None else node.stat.czxid

    def controllers(self) -> list[int]:
        found = ((b, hosted_controller(m)) for b, m in self.cluster.machines.items())
        return [broker for broker, one in found if one is not None and one.is_active]

    def time_until(self, condition: Callable[[], bool]) -> int:
        began_us = self.cluster.clock.now_us
        self.cluster.run_until(condition)
        return self.cluster.clock.now_us - began_us

    def is_led_by_another(self) -> bool:
        """ZooKeeper says so, and the new leader knows."""
        return self.leader() not in (-1, LEADER) and self.cluster.world.leads(
            self.leader(), PARTITION
        )


def with_refused_brokers_eligible(patch: pytest.MonkeyPatch) -> None:
    """A planted bug: who is refused is known to be, and decided about as before."""

    async def only_remember(term: Term, broker: LiveBroker) -> None:
        term.context.refused[broker.registration.broker_id] = broker

    patch.setattr(office, "broker_refused", only_remember)


def with_the_refused_left_in_at_first(patch: pytest.MonkeyPatch) -> None:
    """A planted bug: whoever takes the office over forgets why, and does not look either."""
    patch.setattr(failover, "_leave_out", lambda _term, _broker: None)
    patch.setattr(Reachability, "watch", lambda *_args, **_kwargs: None)


@pytest.mark.parametrize(
    ("plant", "controller"),
    [(with_refused_brokers_eligible, 2), (with_the_refused_left_in_at_first, LEADER)],
)
def test_a_planted_bug_shows_in_the_time_that_it_takes(
    plant: Callable[[pytest.MonkeyPatch], None], controller: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    plant(monkeypatch)
    cut = Cut(Cluster({}, first=controller))
    cut.steady()
    cut.cluster.machines[LEADER].kill()
    assert cut.time_until(cut.is_led_by_another) > PROMPT_US


@pytest.mark.parametrize("controller", [LEADER, 2])
def test_a_dead_leader_is_replaced_at_once_the_controller_too(controller: int) -> None:
    cut = Cut(Cluster({}, first=controller))
    cut.steady()
    cut.cluster.machines[LEADER].kill()
    assert cut.time_until(cut.is_led_by_another) < PROMPT_US
    assert set(cut.isr()) == {2, 3}
    assert len(cut.controllers()) == 1
    assert cut.epoch_of(LEADER) is not None  # whose session lives is ZooKeeper's to say


def test_by_default_the_session_is_waited_for() -> None:
    cut = Cut(Cluster(DEFAULTS, first=2))
    cut.steady()
    cut.cluster.machines[LEADER].kill()
    assert cut.time_until(cut.is_led_by_another) > SESSION_TIMEOUT_MS * 1_000


def test_a_frozen_leader_is_not_refused_and_waits_for_its_session() -> None:
    cut = Cut(Cluster({}, first=2))
    cut.steady()
    cut.cluster.machines[LEADER].pause()
    assert cut.time_until(cut.is_led_by_another) > SESSION_TIMEOUT_MS * 1_000


def test_clients_are_told_of_the_new_leader_as_soon_as_it_leads() -> None:
    cut = Cut(Cluster({}, first=2))
    cut.steady()
    cut.cluster.machines[LEADER].kill()
    cut.cluster.run_until(cut.is_led_by_another)
    client = Asker(cut)
    cut.cluster.run_until_us(cut.cluster.clock.now_us + PROMPT_US // 2)
    client.start()
    cut.cluster.run_until(lambda: len(cut.asked) == 2)
    for answer in cut.asked:
        (partition,) = answer.topics[0].partitions
        assert (partition.leader_id, partition.offline_replicas) == (cut.leader(), [LEADER])
        assert [one.node_id for one in answer.brokers] == [1, 2, 3]  # as long as it is registered


class Asker(Client):
    """Asks the two brokers that live for metadata."""

    def __init__(self, cut: Cut) -> None:
        world, rng = cut.cluster.world, cut.cluster.rng
        super().__init__("asker", PARTITION, cut.cluster.fabric, world, rng)
        self._cut = cut

    def start(self) -> None:
        for broker in (2, 3):
            self.ask(broker, MetadataRequest(topics=None), METADATA_VERSION, self._on_answer)

    def _on_answer(self, answer: Message | Disconnected) -> None:
        assert isinstance(answer, MetadataResponse)
        self._cut.asked.append(answer)


@pytest.mark.parametrize("controller", [LEADER, 2])
def test_a_leader_that_only_closed_its_listener_comes_back_in_sync(controller: int) -> None:
    cut = Cut(Cluster({}, first=controller))
    cut.steady()
    before = cut.epoch_of(LEADER)
    cut.cluster.machines[LEADER].close_listener()
    cut.cluster.run_until(cut.is_led_by_another)
    cut.cluster.run_until(lambda: set(cut.isr()) == {2, 3})
    cut.cluster.machines[LEADER].open_listener()
    cut.cluster.run_until(lambda: set(cut.isr()) == set(REPLICAS))
    assert cut.epoch_of(LEADER) == before
    assert len(cut.controllers()) == 1


def test_a_broker_that_restarts_within_its_session_is_back_before_that_ends() -> None:
    cut = Cut(Cluster({}, first=2))
    cut.steady()
    before = cut.epoch_of(LEADER)
    cut.cluster.machines[LEADER].kill()
    cut.cluster.clock.after(100_000, "start", cut.cluster.machines[LEADER].start)
    took_us = cut.time_until(lambda: cut.epoch_of(LEADER) != before)
    assert took_us < SESSION_TIMEOUT_MS * 1_000
    assert cut.epoch_of(LEADER) is not None
    cut.cluster.run_until(lambda: set(cut.isr()) == set(REPLICAS))


def test_two_brokers_that_refuse_each_other_do_not_depose_each_other_for_ever() -> None:
    """Both reach ZooKeeper; one of them is the controller."""
    cut = Cut(Cluster({}, first=1))
    cut.steady()
    for broker in (2, 3):
        cut.cluster.fabric.reject("b1", f"b{broker}")
        cut.cluster.fabric.reject(f"b{broker}", "b1")
    cut.cluster.run_until_us(20_000_000)
    assert cut.cluster.trace.counts["controller-elected"] == 2
