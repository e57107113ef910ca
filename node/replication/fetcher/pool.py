"""The fetchers of one broker, one for each broker that leads something followed here.

Kafka's ReplicaFetcherManager with num.replica.fetchers=1: its client id is broker-N-fetcher-0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from logquake.node.replication.fetcher.fetcher import ReplicaFetcher
from logquake.node.replication.fetcher.requests import FetchRequests
from logquake.node.replication.fetcher.truncation import PrepareCuts, needs_cut_without_epochs
from logquake.node.replication.partition.partition import Partition
from logquake.node.replication.partition.roles import Offline
from logquake.node.replication.settings import ReplicationSettings
from logquake.node.replication.throttling import Throttle
from logquake.seams.network import Endpoint, Network
from logquake.seams.scheduler import Scheduler


class FetcherPool:
    def __init__(
        self,
        broker_id: int,
        broker_epoch: Callable[[], int],
        settings: ReplicationSettings,
        scheduler: Scheduler,
        network: Network,
        prepare_cuts: PrepareCuts,
        throttle: Throttle,
    ) -> None:
        self._throttle = throttle
        self._broker_id = broker_id
        self._settings = settings
        self._scheduler = scheduler
        self._network = network
        self._prepare_cuts = prepare_cuts
        self._requests = FetchRequests(broker_id, broker_epoch, settings)
        self._fetchers: dict[int, ReplicaFetcher] = {}
        self._endpoints: dict[int, Endpoint] = {}
        self._stranded: dict[Partition, None] = {}

    def strand(self, partition: Partition) -> None:
        """Note a follower that nobody copies, for the next occasion."""
        self._stranded[partition] = None

    def take_stranded(self) -> list[Partition]:
        """Those noted since the last time that nobody copies still."""
        stranded, self._stranded = self._stranded, {}
        return [partition for partition in stranded if not self.follows(partition)]

    def follow(self, partitions: Iterable[tuple[Partition, Endpoint]]) -> None:
        """Copy each partition from the broker at its endpoint, and from no other any more."""
        started: dict[int, ReplicaFetcher] = {}
        following = list(partitions)
        replicas = [partition.replica for partition, _ in following]
        self._prepare_cuts(
            (each.log, each.high_watermark) for each in replicas if needs_cut_without_epochs(each)
        )
        for partition, leader in following:
            if isinstance(partition.role, Offline):
                continue  # what others of its directory needed written failed it
            self.forget(partition)
            fetcher = self._fetcher(leader)
            fetcher.begin(partition)
            started[leader.broker_id] = fetcher
        for leader_id in sorted(started):
            started[leader_id].fetch_next()

    def follows(self, partition: Partition) -> bool:
        """Whether some fetcher copies this partition."""
        key = (partition.topic_id, partition.index)
        return any(fetcher.has(key) for fetcher in self._fetchers.values())

    def forget(self, partition: Partition) -> None:
        """Copy this partition no more. Its fetcher may be idle then, or soon get it back."""
        for fetcher in self._fetchers.values():
            fetcher.remove((partition.topic_id, partition.index))

    def close_idle(self) -> None:
        """End the connections to brokers that lead nothing followed here."""
        for leader_id in sorted(self._fetchers):
            if self._fetchers[leader_id].is_idle:
                self._fetchers.pop(leader_id).close()
                del self._endpoints[leader_id]

    def close(self) -> None:
        for leader_id in sorted(self._fetchers):
            self._fetchers[leader_id].close()
        self._fetchers.clear()

    def _fetcher(self, leader: Endpoint) -> ReplicaFetcher:
        """The leader's fetcher; a new one if the leader came back at another address."""
        fetcher = self._fetchers.get(leader.broker_id)
        if fetcher is not None and self._endpoints[leader.broker_id] == leader:
            return fetcher
        moved = self._new_fetcher(leader)
        if fetcher is not None:
            for followed in fetcher.partitions():
                moved.add(followed.partition)
            fetcher.close()
        self._fetchers[leader.broker_id] = moved
        self._endpoints[leader.broker_id] = leader
        return moved

    def _new_fetcher(self, leader: Endpoint) -> ReplicaFetcher:
        channel = self._network.channel(leader, f"broker-{self._broker_id}-fetcher-0")
        return ReplicaFetcher(
            self._broker_id,
            channel,
            self._requests,
            self._settings,
            self._scheduler,
            self._prepare_cuts,
            self.strand,
            self._throttle,
        )
