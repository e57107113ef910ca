"""What Kafka writes where there is nothing to name, and where a number stands for a wish.

Most of them are -1, each meaning has its own name, that of Kafka's. Where Kafka has several names
for one meaning they are given beside it. A bound that is off (``retention.bytes`` of -1) is no
sentinel of the protocol: its setting says so.
"""

from __future__ import annotations

# Who leads.
NO_LEADER = -1  # LeaderAndIsr.NoLeader, MetadataResponse.NO_LEADER_ID
LEADER_DURING_DELETE = -2  # LeaderAndIsr.LeaderDuringDelete: the topic is going
NO_CONTROLLER = -1  # MetadataResponse.NO_CONTROLLER_ID

# Epochs.
NO_LEADER_EPOCH = -1  # RecordBatch.NO_PARTITION_LEADER_EPOCH, UNDEFINED_EPOCH, LeaderAndIsr.NoEpoch
EPOCH_DURING_DELETE = -2  # LeaderAndIsr.EpochDuringDelete: overrides every epoch (KIP-516)
UNKNOWN_BROKER_EPOCH = -1  # AbstractControlRequest.UNKNOWN_BROKER_EPOCH

# Places in a log.
UNKNOWN_OFFSET = -1  # ListOffsetsResponse.UNKNOWN_OFFSET, UNDEFINED_EPOCH_OFFSET, INVALID_OFFSET
HIGH_WATERMARK = -1  # DeleteRecordsRequest.HIGH_WATERMARK: all that is committed

# Topics that brokers keep for themselves (Topic.INTERNAL_TOPICS).
INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state"})

# Times, and what ListOffsets asks for in the place of one (ListOffsetsRequest).
NO_TIMESTAMP = -1  # RecordBatch.NO_TIMESTAMP
LATEST_TIMESTAMP = -1
EARLIEST_TIMESTAMP = -2
MAX_TIMESTAMP = -3
EARLIEST_LOCAL_TIMESTAMP = -4
LATEST_TIERED_TIMESTAMP = -5

# Producers.
NO_PRODUCER_ID = -1  # RecordBatch.NO_PRODUCER_ID
NO_PRODUCER_EPOCH = -1  # RecordBatch.NO_PRODUCER_EPOCH
NO_SEQUENCE = -1  # RecordBatch.NO_SEQUENCE
ACKS_ALL = -1  # of Produce: when the whole ISR has it

# Who fetches.
CONSUMER_REPLICA_ID = -1  # FetchRequest.CONSUMER_REPLICA_ID
DEBUGGING_REPLICA_ID = -2  # FetchRequest.DEBUGGING_CONSUMER_ID: any replica answers, as if it led

# Members of groups. A commit that names neither is of no member.
UNKNOWN_MEMBER_ID = ""  # JoinGroupRequest.UNKNOWN_MEMBER_ID: of who joins for the first time
NO_GENERATION = -1  # JoinGroupRequest.UNKNOWN_GENERATION_ID

# CreateTopics: as many as the broker's settings say (KIP-464).
NO_NUM_PARTITIONS = -1  # CreateTopicsRequest.NO_NUM_PARTITIONS
NO_REPLICATION_FACTOR = -1  # CreateTopicsRequest.NO_REPLICATION_FACTOR
