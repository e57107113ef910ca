"""A broker comes up, whatever happens to its ZooKeeper session while it does."""

from __future__ import annotations

from random import Random

import pytest

from logquake.zk.model_session import ModelServer
from logquake.zk.znodes.brokers import BrokerRegistration
from tests.sim.clock import Clock
from tests.sim.delays import Delays
from tests.sim.machine import Machine
from tests.sim.network import Fabric
from tests.sim.payloads import AsObjects
from tests.sim.trace import Trace

BOOTED_US = 10_000_000


class LoneBroker:
    def __init__(self, *, failover_on_refusal: bool = True) -> None:
        rng = Random(1)
        self.clock = Clock()
        self.zookeeper = ModelServer()
        fabric = Fabric(self.clock, Delays(rng), AsObjects())
        self.machine = Machine(
            1,
            fabric,
            self.zookeeper,
            Trace(self.clock),
            rng,
            {"logquake.failover.on.refusal": str(failover_on_refusal)},
        )
        self.machine.start()

    def run_until(self, at_us: int) -> None:
        while self.clock.now_us < at_us:
            event = self.clock.next_event()
            assert event is not None
            assert event.action is not None
            event.action()

    def expire_session(self) -> None:
        assert self.machine.session_id is not None
        self.zookeeper.expire(self.machine.session_id)

    def is_registered(self) -> bool:
        node = self.zookeeper.model.data(BrokerRegistration.path(1))
        return node is not None and node.stat.ephemeral_owner == self.machine.session_id


@pytest.mark.parametrize("at_ms", range(0, 120, 4))
def test_a_session_that_expires_during_the_start_is_replaced(at_ms: int) -> None:
    broker = LoneBroker()
    broker.run_until(at_ms * 1000)
    broker.expire_session()
    broker.run_until(BOOTED_US)
    assert broker.machine.listening
    assert broker.is_registered()


@pytest.mark.parametrize("at_ms", range(0, 120, 20))
def test_a_start_goes_on_after_a_cut_from_zookeeper(at_ms: int) -> None:
    broker = LoneBroker()
    broker.run_until(at_ms * 1000)
    broker.machine.cut_zookeeper()
    broker.run_until(at_ms * 1000 + 500_000)
    broker.machine.heal_zookeeper()
    broker.run_until(BOOTED_US)
    assert broker.is_registered()


def test_a_restarted_broker_takes_the_place_of_its_former_life() -> None:
    broker = LoneBroker()
    broker.run_until(1_000_000)
    broker.machine.kill()
    broker.machine.start()
    broker.run_until(1_400_000)
    assert broker.is_registered()
    broker.run_until(BOOTED_US)
    assert broker.is_registered()


def test_by_default_it_waits_for_the_session_of_its_former_life_to_end() -> None:
    broker = LoneBroker(failover_on_refusal=False)
    broker.run_until(1_000_000)
    first = broker.machine.session_id
    broker.machine.kill()
    broker.machine.start()
    broker.run_until(1_200_000)
    assert not broker.is_registered()
    broker.run_until(BOOTED_US)
    assert broker.is_registered()
    assert broker.machine.session_id != first
    assert broker.machine.refusal is None
