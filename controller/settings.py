"""What of a broker's configuration the controller obeys, with Kafka's own defaults."""

from __future__ import annotations

from dataclasses import dataclass

from logquake.controller.channels.vigil import VigilTiming
from logquake.wire.listeners import PLAINTEXT, ListenerName


@dataclass(frozen=True, slots=True)
class ControllerSettings:
    """The keys stand in node/settings/broker.py; defaults are Kafka 3.9's."""

    default_replication_factor: int = 1
    """Replicas of a topic that is created without saying how many."""

    num_partitions: int = 1
    """Partitions of a topic that is created without saying how many."""

    delete_topic_enable: bool = True
    """When false, requests to delete are refused and marks are removed."""

    unclean_leader_election_enable: bool = False
    """Lets a replica outside the ISR lead when no other can.

    The partition is available again, and what only the old ISR held is lost. A topic's own
    configuration of the same name goes before it.
    """

    auto_leader_rebalance_enable: bool = True
    """Gives leadership back to preferred replicas on a timer."""

    leader_imbalance_check_interval_seconds: int = 300
    """The timer's period; the first check is after 5 s."""

    leader_imbalance_per_broker_percentage: int = 10
    """How many of the partitions that prefer a broker may be led by others before leadership moves.
    Lower means more elections."""

    controller_socket_timeout_ms: int = 30000
    """After so long without an answer the connection to a broker is dropped and the request sent
    again. Too low, and a broker busy with recovery gets it twice."""

    inter_broker_listener_name: ListenerName = PLAINTEXT
    """Which of a broker's registered endpoints is called."""

    request_retry_backoff_ms: int = 100
    """No key of Kafka's: its RequestSendThread waits 100 ms before a request is sent again."""

    max_partitions_per_topic: int = 10_000
    """No key of Kafka's in ZooKeeper mode; KRaft has the same bound. A topic is created with no
    more partitions than this: its assignment must fit into one znode (a megabyte)."""

    failover_on_refusal: bool = False
    """A registered broker whose address refuses connections is gone.

    It leads and follows nothing from that moment, and if it was the controller the next candidate
    takes over; its ZooKeeper session is not waited for. A broker that only closed its listener
    loses its leaderships for that while. Where something between brokers refuses in their name
    (a firewall that rejects, a proxy), leave it off, as Kafka is.
    """

    failover_reconnect_backoff_ms: int = 5
    """The first pause between attempts to reach a broker that refuses, or that accepts only to
    reset (a process that ends does so for some milliseconds); each later one is twice as long."""

    failover_reconnect_backoff_max_ms: int = 1000
    """The longest such pause, and so how late a broker that listens again is noticed."""

    failover_connect_timeout_ms: int = 10_000
    """One attempt is given up after so long. That is no refusal, and says nothing about the
    broker."""

    @property
    def vigil_timing(self) -> VigilTiming | None:
        """None where refusals mean nothing."""
        if not self.failover_on_refusal:
            return None
        return VigilTiming(
            self.failover_reconnect_backoff_ms,
            self.failover_reconnect_backoff_max_ms,
            self.failover_connect_timeout_ms,
        )
