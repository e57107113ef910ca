"""Settings of replication, with Kafka 3.9's defaults; their keys stand in node/settings."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from logquake.node.quotas.measures import Windows
from logquake.node.replication.throttling import NOBODY, ThrottledReplicas
from logquake.storage.cleaner.plan import CleanerBounds
from logquake.storage.log_config import NEVER, LogConfig

_MAX_BUFFER_BYTES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """What a topic's configuration says about its partitions."""

    log: LogConfig = field(default_factory=LogConfig)
    # Below it acks=all is refused. 1 lets a lone leader ack, and lose.
    min_insync_replicas: int = 1
    # A replica outside the ISR may lead; its acked gap is lost.
    unclean_leader_election: bool = False
    # Convert records for consumers older than 0.11. It costs this broker's time and memory; without
    # it they are refused.
    message_downconversion: bool = True
    # Whose replication is held back while brokers are over their rates: replicas that a leader
    # sends to, and those that fetch.
    throttled_leaders: ThrottledReplicas = NOBODY
    throttled_followers: ThrottledReplicas = NOBODY


@dataclass(frozen=True, slots=True)
class CleanerSettings:
    """Compaction, as far as it concerns the broker as a whole."""

    # Without it compacted topics only grow.
    enabled: bool = True
    # How many logs are cleaned at the same time. They share the buffers.
    threads: int = 1
    # The rest of a cleaner that found nothing to do.
    backoff_ms: int = 15_000
    # Of all cleaners, reads and writes together.
    io_max_bytes_per_second: float = inf
    # Memory for keys. Too little, and a log's clean part is rewritten several times before its
    # dirty part is used up.
    dedupe_buffer_bytes: int = 134_217_728
    # Half of it is read at a time, which makes a slice of work.
    io_buffer_bytes: int = 524_288
    # How full the memory for keys may be.
    load_factor: float = 0.9
    # Not Kafka's. A cleaner works for this part of the time at most: it shares one interpreter with
    # the loop, which waits while it computes.
    cpu_share: float = 0.5

    @property
    def bounds(self) -> CleanerBounds:
        """Of one cleaner."""
        return CleanerBounds(
            min(self.dedupe_buffer_bytes // self.threads, _MAX_BUFFER_BYTES),
            self.load_factor,
            max(1, self.io_buffer_bytes // self.threads // 2),
        )


@dataclass(frozen=True, slots=True)
class ReplicationSettings:
    """One broker's replication settings. Times in milliseconds, sizes in bytes."""

    # A follower not caught up for so long leaves the ISR. Lower sheds slow followers sooner, and
    # flaps on pauses.
    replica_lag_time_max_ms: int = 30_000
    # How long a leader may hold a follower's empty fetch. It must stay below
    # replica_lag_time_max_ms, or idle followers fall out of the ISR.
    replica_fetch_wait_max_ms: int = 500
    # More saves requests and delays acks=all.
    replica_fetch_min_bytes: int = 1
    # Per partition; a larger first batch is still returned.
    replica_fetch_max_bytes: int = 1_048_576
    # Per response; bounds a follower's memory per leader.
    replica_fetch_response_max_bytes: int = 10_485_760
    # A partition rests so long after an error.
    replica_fetch_backoff_ms: int = 1_000
    # The first of its rests after a leader said that it does not lead (yet); each one after it is
    # twice as long, up to replica_fetch_backoff_ms, which Kafka waits at once. Until a follower
    # fetches, acks=all waits.
    new_leader_fetch_backoff_ms: int = 10
    # A Fetch that waits at a leader is given up, with its connection, so long after the last
    # partition came that has a new leader and waits behind it. Kafka waits for
    # replica_fetch_wait_max_ms. Lower costs a connection and a full Fetch more often.
    new_leader_fetch_wait_ms: int = 10
    # Only if it fetches no more partitions than this: its leader looks at all of them anew.
    new_leader_fetch_partitions_max: int = 1_000
    # After a crash, reads start from the last one.
    high_watermark_checkpoint_interval_ms: int = 5_000
    # How often logs are looked at for flush_ms (LogConfig); by default never.
    log_flush_scheduler_interval_ms: int = NEVER
    # After a crash, logs are scanned from the last one. 0 leaves it to truncations and deletions.
    recovery_point_checkpoint_interval_ms: int = 60_000
    # The same for where logs begin.
    log_start_checkpoint_interval_ms: int = 60_000
    # The checkpoints of what is synced, where logs start and where compaction ended name a deleted
    # log for so long; Kafka writes them at once. Lower writes those of all partitions more often
    # while topics are deleted.
    deletion_checkpoint_delay_ms: int = 1_000
    # How often idle producers are looked for.
    producer_expiration_check_interval_ms: int = 600_000
    # How often old segments are looked for.
    retention_check_interval_ms: int = 300_000
    # Flushes, checkpoints of logs and retention wait so long after a start, which has enough to do.
    initial_task_delay_ms: int = 30_000
    # Bounds the memory of fetch sessions.
    fetch_session_slots: int = 1_000
    # Not Kafka's: records of produced batches that wait for the word of their transactions'
    # coordinators. What comes beyond is refused for the moment (NOT_ENOUGH_REPLICAS).
    verification_max_bytes: int = 67_108_864
    # Not Kafka's: the pause before AlterPartition is sent again after an error that the controller
    # answered (50 in AlterPartitionManager). What no controller answered node/controller_link.py
    # repeats.
    alter_partition_retry_ms: int = 50
    # Send followers' broker epochs with ISR changes, so that the controller can refuse a replica
    # that was restarted since (KIP-903). Kafka in ZooKeeper mode sends -1: an emptied replica can
    # then enter the ISR and be elected.
    isr_broker_epochs: bool = True
    # How many replicas move between directories at a time; None is one for each directory. More
    # compete for the same disks.
    move_threads: int | None = None
    # For all these moves together. Without it they take what the disks give, and clients feel it.
    move_max_bytes_per_second: int = NEVER
    # Of replicas that their topics throttle: the most that is sent from here in a second, and that
    # is fetched. Too little, and they never get in sync.
    leader_max_bytes_per_second: int = NEVER
    follower_max_bytes_per_second: int = NEVER
    # Over what time that is measured.
    throttle_windows: Windows = field(default_factory=Windows)
    cleaner: CleanerSettings = field(default_factory=CleanerSettings)
    # What topics obey that say nothing of their own.
    topic_defaults: TopicConfig = field(default_factory=TopicConfig)
