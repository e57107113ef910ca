"""What can be done to what ZooKeeper says of brokers. Its servers are members, as brokers are."""

from __future__ import annotations

from logquake.cluster.errors import ClusterError
from logquake.cluster.running.deeds import Deeds, deed
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.observed import Target
from logquake.cluster.running.waits import DEFAULT_TIMEOUT, WaitingCluster
from logquake.cluster.state import Phase, broker_name, is_broker


class ZooKeeperFaults(WaitingCluster):
    deeds: Deeds

    @deed
    def expire_session(self, target: Target) -> Fault:
        """ZooKeeper ends a broker's session, as if it had not heard of it for too long.

        The broker learns of it when it reaches ZooKeeper next, and registers in a new session: it
        is well again by itself, and healing waits for that.
        """
        from logquake.cluster.zookeeper.session_end import end_session

        name = self.member_name(target)
        if not is_broker(name):
            raise ClusterError(f"{name} has no session of its own: name a broker")
        broker_id = int(name.removeprefix("broker-"))
        session_id = self.view.session_of(broker_id)
        if session_id is None:
            raise ClusterError(f"{name} is not registered in ZooKeeper: it has no session to end")
        epochs = self.leader_epochs()
        end_session(self.zookeeper_connect, session_id)
        return Fault(
            name, epochs, lambda: self._wait_until_back(broker_id, session_id), lambda: None
        )

    @deed
    def delete_controller(self) -> Fault:
        """Delete /controller: the office is free for whoever comes first, under the next epoch.

        Healing waits until somebody holds it.
        """
        epochs = self.leader_epochs()
        controller = self.view.delete_controller()
        if controller is None:
            raise ClusterError("there is no controller at the moment")
        name = broker_name(controller)
        return Fault(name, epochs, self._wait_until_held, lambda: None)

    def _wait_until_held(self) -> None:
        self.wait_controller()

    def _wait_until_back(self, broker_id: int, session_id: int) -> None:
        """Unless it does not run, or can't reach ZooKeeper for another reason."""

        def is_back() -> bool | None:
            return self.view.session_of(broker_id) not in (None, session_id) or None

        name = broker_name(broker_id)
        member = self.state().member(name)
        if member is not None and member.phase is Phase.RUNNING:
            self._wait(is_back, f"{name} has not registered anew", DEFAULT_TIMEOUT)
