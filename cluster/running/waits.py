"""What can be waited for. No wait sleeps where ZooKeeper tells of the change."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from contextlib import closing, suppress
from typing import TYPE_CHECKING, TypeVar

from logquake.cluster.errors import ClusterError, WaitTimeoutError
from logquake.cluster.layout import last_line
from logquake.cluster.observing.onlookers import ONLOOKER
from logquake.cluster.running.fault import Fault
from logquake.cluster.running.observed import ANSWER_TIMEOUT_S, ObservedCluster
from logquake.cluster.state import Phase, broker_id_of, is_broker
from logquake.wire.sentinels import NO_LEADER, NO_LEADER_EPOCH
from logquake.wire.topic_partition import TopicPartition

if TYPE_CHECKING:
    from logquake.client import Admin
    from logquake.cluster.observing.groups import Group

DEFAULT_TIMEOUT = 60.0  # seconds
ASK_AGAIN_S = 0.02  # what only brokers and the caller know is asked for this often

T = TypeVar("T")


class WaitingCluster(ObservedCluster):
    """A wait raises WaitTimeoutError with the cluster's state. Time-outs are in seconds."""

    def wait_ready(self, timeout: float = DEFAULT_TIMEOUT, *, after_start: bool = False) -> None:
        """Until every running broker answers, knows all the others, and knows the controller.

        A broker that dies meanwhile raises; after a start, one that was dead before as well.
        """
        from logquake.cluster.observing.readiness import Readiness

        dead = {one.name for one in self.state().brokers if one.phase is Phase.ENDED}
        readiness = Readiness(
            self.state,
            self._last_words,
            self.way_in,
            frozenset() if after_start else frozenset(dead),
        )
        try:
            if not readiness.wait(time.monotonic() + timeout):
                raise self._timed_out(readiness.missing(), timeout)
        finally:
            readiness.close()

    def _wait_answering(self, name: str, deadline: float, timeout: float) -> None:
        """Until a broker that was started answers and knows the controller and itself."""
        from logquake.cluster.observing.readiness import Readiness

        readiness = Readiness(self.state, self._last_words, self.way_in, only=name)
        try:
            if not readiness.wait(deadline):
                raise self._timed_out(readiness.missing(), timeout)
        finally:
            readiness.close()

    def _wait_let_go(self, name: str, timeout: float) -> None:
        """Until the registration of a broker that was killed is gone, while ZooKeeper can say.

        Ours waits for that itself. Apache Kafka's takes one of another session for a second broker
        of its id, and ends (KafkaZkClient.CheckedEphemeral).
        """
        state = self.state()
        member = state.member(name)
        if not (state.kafka and is_broker(name) and member and member.phase is Phase.ENDED):
            return
        broker_id = broker_id_of(name)

        def is_gone() -> bool | None:
            return None if broker_id in self.view.live_brokers() else True

        with suppress(ClusterError):
            self._wait(is_gone, f"{name} is registered yet", timeout)

    def wait_isr(
        self, topic: str, partition: int, size: int, timeout: float = DEFAULT_TIMEOUT
    ) -> tuple[int, ...]:
        """Until the ISR has ``size`` members; returns it."""

        def isr() -> tuple[int, ...] | None:
            state = self.view.partition(topic, partition)
            return state.isr if state and len(state.isr) == size else None

        return self._wait(isr, f"ISR of {topic}-{partition} has not {size} members", timeout)

    def wait_leader(self, topic: str, partition: int, timeout: float = DEFAULT_TIMEOUT) -> int:
        """Until the partition has a leader; returns it.

        A new controller takes dead brokers out of the ISRs first and elects afterwards, as Kafka's
        does: for a moment the ISR is right already and there is no leader yet.
        """
        what = f"{topic}-{partition} has no leader"
        return self._wait_leader(topic, partition, NO_LEADER_EPOCH, what, timeout)

    def wait_leader_change(
        self, topic: str, partition: int, since: Fault, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until a leader was elected that did not lead before the fault; returns it.

        A leader elected anew, in a later epoch, counts: what matters is that somebody decided.
        """
        before = since.leader_epochs.get(TopicPartition(topic, partition), NO_LEADER_EPOCH)
        what = f"{topic}-{partition} has no leader of an epoch above {before}"
        return self._wait_leader(topic, partition, before, what, timeout)

    def wait_controller(
        self, other_than: int | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until there is a controller, and another than the one named; returns it."""

        def controller() -> int | None:
            broker_id = self.view.controller()
            return broker_id if broker_id != other_than else None

        wanted = "controller" if other_than is None else f"controller but {other_than}"
        return self._wait(controller, f"there is no {wanted}", timeout)

    def wait_topic(self, topic: str, timeout: float = DEFAULT_TIMEOUT) -> None:
        """Until every broker that serves tells of the topic, and of leaders of its partitions."""
        self._wait_leaders_told(
            [topic],
            lambda told: all(
                each[topic] and NO_LEADER not in each[topic] for each in told.values()
            ),
            f"not every broker tells of leaders of {topic}",
            timeout,
        )

    def wait_no_topics(self, topics: Collection[str], timeout: float = DEFAULT_TIMEOUT) -> None:
        """Until they are deleted for good, and no broker that serves tells of them."""

        def are_gone() -> bool | None:
            return None if self.view.topics().intersection(topics) else True

        began = time.monotonic()
        listed = ", ".join(sorted(topics))
        self._wait(are_gone, f"not yet deleted: some of {listed}", timeout)
        self._wait_leaders_told(
            topics,
            lambda told: not any(any(each.values()) for each in told.values()),
            f"brokers still tell of {listed}",
            max(0.0, timeout - (time.monotonic() - began)),
        )

    def wait_offset(
        self, topic: str, partition: int, offset: int, timeout: float = DEFAULT_TIMEOUT
    ) -> int:
        """Until the partition's high watermark is ``offset`` or above; returns it.

        Records below the high watermark are committed: they outlive their leader.
        """
        from logquake.client.admin import OffsetSpec
        from logquake.cluster.observing.log_offsets import offsets_at

        place = TopicPartition(topic, partition)

        def high_watermark(admin: Admin) -> int:
            return offsets_at(admin, [place], OffsetSpec.LATEST)[place]

        return self._wait_told(
            high_watermark,
            lambda found: found >= offset,
            f"high watermark of {topic}-{partition} is not {offset} or above",
            timeout,
        )

    def wait_group_stable(
        self, group: str, members: int | None = None, timeout: float = DEFAULT_TIMEOUT
    ) -> Group:
        """Until the group's members, so many if told, have their partitions; returns it."""
        from logquake.cluster.observing.groups import STABLE, described_group

        def is_stable(found: Group) -> bool:
            return found.state == STABLE and members in (None, len(found.members))

        with_members = "" if members is None else f" with {members} members"
        return self._wait_told(
            lambda admin: described_group(admin, group),
            is_stable,
            f"group {group} is not stable{with_members}",
            timeout,
        )

    def eventually(
        self, check: Callable[[], T], what: str = "", timeout: float = DEFAULT_TIMEOUT
    ) -> T:
        """Until ``check()`` returns something true; returns it.

        A check that fails by assert is asked again too; any other exception is raised at once.
        """
        name = what or getattr(check, "__name__", repr(check))
        return self._look_until(check, bool, AssertionError, f"{name}: ", timeout)

    # Behind it

    def _wait_leader(
        self, topic: str, partition: int, above_epoch: int, what_is_not: str, timeout: float
    ) -> int:
        def leader() -> int | None:
            state = self.view.partition(topic, partition)
            if state is None or state.leader == NO_LEADER or state.leader_epoch <= above_epoch:
                return None
            return state.leader

        return self._wait(leader, what_is_not, timeout)

    def _wait(self, read: Callable[[], T | None], what_is_not: str, timeout: float) -> T:
        """What ``read`` saw when it held: read once more, it might hold no longer."""
        found = self.view.wait_for(read, timeout)
        if found is None:
            raise self._timed_out(what_is_not, timeout)
        return found

    def _wait_leaders_told(
        self,
        topics: Collection[str],
        wanted: Callable[[dict[int, dict[str, list[int]]]], bool],
        what_is_not: str,
        timeout: float,
    ) -> None:
        """Until every broker, asked by itself, tells what is ``wanted``."""
        from logquake.cluster.observing.broker_connections import BrokerConnections, dial_as
        from logquake.cluster.observing.told import leaders_told

        dial = dial_as(ONLOOKER, int(ANSWER_TIMEOUT_S * 1000), self.way_in)
        with closing(BrokerConnections(dial)) as connections:

            def told(admin: Admin) -> dict[int, dict[str, list[int]]]:
                brokers = admin.describe_cluster().result().nodes  # those that serve
                return leaders_told(brokers, connections, topics)

            self._wait_told(told, wanted, what_is_not, timeout)

    def _wait_told(
        self,
        ask: Callable[[Admin], T],
        wanted: Callable[[T], bool],
        what_is_not: str,
        timeout: float,
    ) -> T:
        """What brokers told when it was ``wanted``; who does not answer is asked again."""
        from logquake.client.errors import ClientError

        with self.admin(timeout) as admin:
            return self._look_until(
                lambda: ask(admin), wanted, ClientError, f"{what_is_not}, but ", timeout
            )

    def _look_until(
        self,
        look: Callable[[], T],
        wanted: Callable[[T], bool],
        not_yet: type[Exception],
        what: str,
        timeout: float,
    ) -> T:
        """What was seen when it was ``wanted``; what was seen last stands behind ``what``."""
        deadline = time.monotonic() + timeout
        while True:
            seen: T | Exception
            try:
                seen = look()
                if wanted(seen):
                    return seen
            except not_yet as error:
                seen = error
            if time.monotonic() > deadline:
                raise self._timed_out(f"{what}{seen!r}", timeout)
            time.sleep(ASK_AGAIN_S)

    def _last_words(self, name: str) -> str:
        return last_line(self.layout.log_of(name))

    def _timed_out(self, what_is_not: str, timeout: float) -> WaitTimeoutError:
        try:
            state = self.describe()
        except ClusterError as error:
            state = str(error)
        return WaitTimeoutError(f"{what_is_not} after {timeout:g} s\n{state}")
