"""What a controller records: each kind of event, its cause, and what to do about it.

docs/architecture/journal.md is made of this.
"""

from __future__ import annotations

from logquake.seams.journal import EventKind

# The office

CONTROLLER_ELECTED = EventKind(
    "controller-elected",
    cause="This broker made /controller; `epoch` is the controller epoch of its term.",
    remedy="Nothing. One after the other in short order: look at the resignations between them.",
)
CONTROLLER_RESIGNED = EventKind(
    "controller-resigned",
    cause="Its term is over: its ZooKeeper session ended, another was elected, it could not take "
    "up the office, or the broker ends.",
    remedy="Nothing, if a controller-elected of another broker follows. Else look why no broker "
    "gets through to ZooKeeper.",
)
CONTROLLER_EVENT_FAILED = EventKind(
    "controller-event-failed",
    cause="ZooKeeper refused or did not answer, or another controller is in office; what the "
    "event was to do is left to the next term.",
    remedy="Nothing at an election. Again and again: look at ZooKeeper.",
)

# Brokers

BROKER_UP = EventKind(
    "broker-up",
    cause="A broker registered: new, back, or under another broker epoch.",
    remedy="Nothing.",
)
BROKER_DOWN = EventKind(
    "broker-down",
    cause="A broker's registration is gone: it ended, or its ZooKeeper session did.",
    remedy="Look at its own last events and output, and start it again.",
)
BROKER_REFUSED = EventKind(
    "broker-refused",
    cause="Nobody listens at a registered broker's address any more: it is taken for gone before "
    "its session ends (`logquake.failover.on.refusal`).",
    remedy="As with broker-down. If that broker lives, it cannot be reached at the listener "
    "between brokers: mend its `listeners`, or the network.",
)
BROKER_LEAVING = EventKind(
    "broker-leaving",
    cause="A broker that was told to stop asked for its leaderships to be moved away.",
    remedy="Nothing.",
)
BROKER_ENDPOINTS_CHANGED = EventKind(
    "broker-endpoints-changed",
    cause="A broker wrote other addresses into its registration; all brokers are told.",
    remedy="Nothing, if somebody meant it.",
)

# Leaders

LEADER_ELECTED = EventKind(
    "leader-elected",
    cause="A partition is new, its leader is gone or leaves, or its preferred replica is back.",
    remedy="Nothing.",
)
UNCLEAN_LEADER_ELECTED = EventKind(
    "unclean-leader-elected",
    cause="No member of the ISR lives, and the topic's `unclean.leader.election.enable` lets "
    "another replica lead: what that one lacks is lost, though it was acked.",
    remedy="Compare with what producers sent. If nothing may be lost, disable it and start the "
    "ISR's members.",
)
LEADER_NOT_ELECTED = EventKind(
    "leader-not-elected",
    cause="No replica may lead: none of the ISR lives.",
    remedy="Start a broker of the ISR that `before` shows.",
)
LEADERS_IMBALANCED = EventKind(
    "leaders-imbalanced",
    cause="More of the partitions that prefer a broker are led by others than "
    "`leader.imbalance.per.broker.percentage` allows; they go back to it now.",
    remedy="Nothing.",
)
PARTITION_NOT_CREATED = EventKind(
    "partition-not-created",
    cause="A new partition's first state could not be written: one was there, or its topic is "
    "gone again.",
    remedy="Nothing, if the topic was deleted meanwhile. A state that was there was left by an "
    "earlier topic: delete and create the topic anew.",
)
PARTITION_MOVE_REFUSED = EventKind(
    "partition-move-refused",
    cause="A partition was to go from one status to another that does not follow it.",
    remedy="A bug of ours, or znodes that were written by hand: report it with the events before.",
)

# The ISR, as ZooKeeper has it

ISR_EXPANDED = EventKind(
    "isr-expanded",
    cause="A leader proposed followers that have caught up, and it is written.",
    remedy="Nothing.",
)
ISR_SHRUNK = EventKind(
    "isr-shrunk",
    cause="A leader proposed to leave followers out that lag, or a follower's broker or log "
    "directory is gone; it is written.",
    remedy="For lag see the leader's isr-proposed, which names it; else start the broker.",
)
ISR_CHANGE_REFUSED = EventKind(
    "isr-change-refused",
    cause="A leader's proposal comes from an older leader or partition epoch, or names a replica "
    "that may not join.",
    remedy="Nothing: the leader asks again, or has been replaced.",
)
LEADER_LOST = EventKind(
    "leader-lost",
    cause="The leader's broker or log directory is gone and nobody may take over.",
    remedy="As with leader-not-elected.",
)
LEADER_RECOVERED = EventKind(
    "leader-recovered",
    cause="A leader that was elected unclean says that its log is in order; its ISR is the same.",
    remedy="Nothing.",
)

# Replicas

REPLICAS_OFFLINE = EventKind(
    "replicas-offline",
    cause="A broker answered LeaderAndIsr that these replicas, in `after`, are on a log directory "
    "that failed.",
    remedy="Mend or replace the disk, and restart that broker.",
)
LOG_DIR_FAILED = EventKind(
    "log-dir-failed",
    cause="A broker told through ZooKeeper that one of its log directories failed.",
    remedy="That broker's own log-dir-failed says which, and why.",
)
LOG_DIR_EVENT_IGNORED = EventKind(
    "log-dir-event-ignored",
    cause="A znode under /log_dir_event_notification makes no sense; it is deleted.",
    remedy="Find out who wrote it: no broker did.",
)
REPLICA_MOVE_REFUSED = EventKind(
    "replica-move-refused",
    cause="A replica was to go from one status to another that does not follow it.",
    remedy="As with partition-move-refused.",
)
STATE_MISSING = EventKind(
    "state-missing",
    cause="A partition's state znode is not there though its topic is.",
    remedy="Nothing, if the topic is deleted just now. Else somebody deleted the znode: delete "
    "and create the topic anew.",
)
REQUEST_REFUSED = EventKind(
    "request-refused",
    cause="A broker answered LeaderAndIsr, UpdateMetadata or StopReplica with an error.",
    remedy="STALE_CONTROLLER_EPOCH and STALE_BROKER_EPOCH are of a change of controller or a "
    "restart, and pass. Others: look at that broker.",
)

# Topics

TOPIC_CREATED = EventKind(
    "topic-created",
    cause="A client asked for it, or a broker on behalf of one; `after` is the assignment.",
    remedy="Nothing.",
)
TOPIC_ID_GIVEN = EventKind(
    "topic-id-given",
    cause="A topic was made by a Kafka before 2.8, which knew no topic ids.",
    remedy="Nothing.",
)
TOPIC_FORGOTTEN = EventKind(
    "topic-forgotten",
    cause="A topic's znode was deleted by hand.",
    remedy="Its replicas stay on the brokers' disks: delete topics by request.",
)
PARTITIONS_CREATED = EventKind(
    "partitions-created",
    cause="A client asked for more partitions of a topic; `after` is the assignment of all.",
    remedy="Nothing.",
)
PARTITIONS_REFUSED = EventKind(
    "partitions-refused",
    cause="A topic that is being deleted was given more partitions; they are taken out again.",
    remedy="Nothing.",
)
TOPIC_DELETION_ASKED = EventKind(
    "topic-deletion-asked",
    cause="The topic has a mark in /admin/delete_topics.",
    remedy="Nothing.",
)
TOPIC_DELETION_STARTED = EventKind(
    "topic-deletion-started",
    cause="Nothing stands in the deletion's way: the replicas are told to go.",
    remedy="Nothing.",
)
TOPIC_DELETION_HALTED = EventKind(
    "topic-deletion-halted",
    cause="A replica cannot be deleted now: its broker is down, or its disk failed.",
    remedy="Start that broker: the deletion goes on by itself.",
)
TOPIC_DELETION_RESUMED = EventKind(
    "topic-deletion-resumed",
    cause="What halted the deletion is over.",
    remedy="Nothing.",
)
TOPIC_DELETED = EventKind(
    "topic-deleted",
    cause="Every replica is deleted, and then the topic's znodes.",
    remedy="Nothing.",
)

# The rest

PRODUCER_IDS_ALLOCATED = EventKind(
    "producer-ids-allocated",
    cause="A broker used up its block of producer ids and asked for the next.",
    remedy="Nothing. Every few seconds: some client makes a new producer for each message.",
)
ZNODE_SET_ASIDE = EventKind(
    "znode-set-aside",
    cause="A znode makes no sense; what it is about is left as it is, all else goes on.",
    remedy="Mend the znode that the reason names; znode-taken-up follows.",
)
ZNODE_TAKEN_UP = EventKind(
    "znode-taken-up",
    cause="A znode that was set aside makes sense again.",
    remedy="Nothing.",
)
