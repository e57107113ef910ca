"""What a broker records: each kind of event, its cause, and what to do about it.

docs/architecture/journal.md is made of this.
"""

from __future__ import annotations

from logquake.seams.journal import EventKind

# Its life

SETTING_IGNORED = EventKind(
    "setting-ignored",
    cause="server.properties has a key that Kafka does not know, or that nothing here reads.",
    remedy="A slip of the pen: mend it. Else it does no harm; `logquake up` sets one such itself.",
)
BROKER_CONFIG_CHANGED = EventKind(
    "broker-config-changed",
    cause="Keys were set or unset for this broker, or for all by default; `after` has their values "
    "where they are no secrets.",
    remedy="Nothing.",
)
KEY_STORES_READ = EventKind(
    "key-stores-read",
    cause="The key or trust store of a listener was set, or its file read again: who connects "
    "from now on meets what it holds.",
    remedy="Nothing.",
)
KEY_STORES_IGNORED = EventKind(
    "key-stores-ignored",
    cause="A key or trust store that was set cannot be used: the one before it serves on.",
    remedy="Mend the file, and set the same once more.",
)
BROKER_CONFIG_IGNORED = EventKind(
    "broker-config-ignored",
    cause="ZooKeeper holds a key for this broker, or for all, that may not change at run time, or "
    "a value that makes no sense. The broker goes on as it was.",
    remedy="Set another value, or unset the key: `logquake configs`.",
)
CONFIG_IGNORED = EventKind(
    "config-ignored",
    cause="A znode below /config makes no sense: a notification, or what is set of something, of "
    "which nothing counts.",
    remedy="Whoever wrote it should set the same once more.",
)
ZOOKEEPER_DISCONNECTED = EventKind(
    "zookeeper-disconnected",
    cause="The connection to ZooKeeper broke; the session lives on until its time-out.",
    remedy="Nothing, if registered or silence follows. Else look at ZooKeeper.",
)
ZOOKEEPER_SESSION_EXPIRED = EventKind(
    "zookeeper-session-expired",
    cause="ZooKeeper heard nothing for a whole session: the broker was frozen or starved, or "
    "ZooKeeper could not be reached. The broker registers anew.",
    remedy="Look for loop-busy before it. On a slow machine raise `zookeeper.session.timeout.ms`.",
)
REGISTERED = EventKind(
    "registered",
    cause="The broker wrote /brokers/ids/N; `epoch` is its broker epoch.",
    remedy="Nothing.",
)
READY = EventKind(
    "ready",
    cause="After a start: the controller has told the broker's replicas what to do.",
    remedy="Nothing. If it is missing, there is no controller, or it cannot reach this broker.",
)
STOPPING = EventKind(
    "stopping",
    cause="The first SIGTERM or SIGINT: a controlled shutdown begins.",
    remedy="Nothing.",
)
STOPPING_AT_ONCE = EventKind(
    "stopping-at-once",
    cause="A second signal: leaderships are not waited for; logs are closed all the same.",
    remedy="Nothing.",
)
CONTROLLED_SHUTDOWN = EventKind(
    "controlled-shutdown",
    cause="The attempt to hand over all leaderships is over; the reason says how it went.",
    remedy="If it gave up, partitions had no leader for a moment: look for in-sync replicas "
    "elsewhere, and for a controller.",
)

# Its loop, its connections, its journal

LOOP_BUSY = EventKind(
    "loop-busy",
    cause="One pass of the loop took longer than `logquake.loop.busy.ms`; the reason names the "
    "part that took most of it. At most one in 10 s is recorded.",
    remedy="Once is no harm. Often: the machine starves the broker, a disk is slow, or requests "
    "are too large.",
)
CONNECTION_CLOSED = EventKind(
    "connection-closed",
    cause="A peer sent what cannot be read, or too much, or could not say who it is.",
    remedy="Look at the client at that address: it speaks another protocol, TLS say, or has a bug.",
)
LINK_REFUSED = EventKind(
    "link-refused",
    cause="Another broker did not let this one in, or is not whom its certificate should name.",
    remedy="Compare the brokers' sasl.jaas.config, users, and ssl.truststore settings.",
)
ACCEPT_FAILED = EventKind(
    "accept-failed",
    cause="The process has no descriptor left for a new connection.",
    remedy="Raise the limit of open files, or lower `max.connections` or "
    "`logquake.open.segments.max`.",
)
JOURNAL_GAP = EventKind(
    "journal-gap",
    cause="The journal could not be written for a while; the reason counts what is missing.",
    remedy="Free space on the disk of the journal.",
)

# A partition's role and its ISR, as the leader sees it

ROLE_CHANGED = EventKind(
    "role-changed",
    cause="The controller made the replica leader or follower, it was stopped, or its disk failed.",
    remedy="Nothing. If it went offline: see log-dir-failed.",
)
ISR_PROPOSED = EventKind(
    "isr-proposed",
    cause="The leader asks the controller for another ISR; the reason says how far each follower "
    "has come.",
    remedy="For a follower that lags again and again: look at its broker, its disk, and "
    "`replica.lag.time.max.ms`.",
)
ISR_EXPANDED = EventKind(
    "isr-expanded",
    cause="The controller wrote the larger ISR that this leader proposed.",
    remedy="Nothing.",
)
ISR_SHRUNK = EventKind(
    "isr-shrunk",
    cause="The controller wrote the smaller ISR that this leader proposed.",
    remedy="See isr-proposed. Below `min.insync.replicas` producers with acks=all are refused.",
)
ISR_REFUSED = EventKind(
    "isr-refused",
    cause="The controller did not take this leader's proposal; the reason has the error, and what "
    "the leader does next.",
    remedy="Nothing, at a change of leaders or controllers. Again and again: look at the "
    "controller's isr-change-refused.",
)

# A replica's log

LOG_TRUNCATED = EventKind(
    "log-truncated",
    cause="A follower's log parted from its new leader's: it drops what only it has.",
    remedy="Nothing, unless committed-truncated follows.",
)
COMMITTED_TRUNCATED = EventKind(
    "committed-truncated",
    cause="What was dropped had been below the high watermark, so it may have been acked and read.",
    remedy="Expected after an unclean election, or where all replicas lost power. Else a bug: keep "
    "the files and report it.",
)
LOG_RESTARTED = EventKind(
    "log-restarted",
    cause="The leader has nothing of what this follower wants next: the log begins anew at its "
    "leader's start.",
    remedy="Nothing: the follower copies what there is.",
)
LOG_BEGUN_WITH_BATCH = EventKind(
    "log-begun-with-batch",
    cause="The leader's log start lies within a batch: the follower begins with that whole batch.",
    remedy="Nothing.",
)
LOG_START_RAISED = EventKind(
    "log-start-raised",
    cause="DeleteRecords, or a leader whose log starts later.",
    remedy="Nothing, if somebody meant it.",
)
FETCHED_RECORDS_REFUSED = EventKind(
    "fetched-records-refused",
    cause="What a leader sent to this follower is damaged or out of order; it is fetched again.",
    remedy="Again and again: `logquake log verify` on the leader's log directory.",
)
RECORDS_DAMAGED = EventKind(
    "records-damaged",
    cause="Records on the disk cannot be read. Who reads them gets CORRUPT_MESSAGE, all others "
    "go on.",
    remedy="`logquake log verify` says which. A follower is filled anew when its folder is removed "
    "while its broker is down.",
)
SEGMENTS_DELETED = EventKind(
    "segments-deleted",
    cause="Old segments went by `retention.ms` or `retention.bytes`, or below the log's start.",
    remedy="Nothing.",
)
LOG_CLEANED = EventKind(
    "log-cleaned",
    cause="Compaction is done with a log; `before` and `after` are bytes read and written.",
    remedy="Nothing.",
)
LOG_UNCLEANABLE = EventKind(
    "log-uncleanable",
    cause="Compaction met damaged records, or a log without room for them: it leaves this log "
    "alone until the broker starts anew.",
    remedy="As with records-damaged; then restart the broker.",
)
CLEANER_CHECKPOINT_RESET = EventKind(
    "cleaner-checkpoint-reset",
    cause="cleaner-offset-checkpoint names an offset that is not in the log.",
    remedy="Nothing: compaction begins where the log does.",
)

# A replica on this broker

REPLICA_EMPTY = EventKind(
    "replica-empty",
    cause="The controller names a partition that is not new, and there is no log of it here: a "
    "disk was emptied, or the partition is new to this broker.",
    remedy="Nothing: it is filled by its leader.",
)
REPLICA_FAILED = EventKind(
    "replica-failed",
    cause="The disk refused to open or to make a replica's log.",
    remedy="See log-dir-failed, which follows.",
)
REPLICA_OF_ANOTHER_TOPIC = EventKind(
    "replica-of-another-topic",
    cause="The folder belongs to an earlier topic of the same name: its topic id is another one.",
    remedy="If the old data may go, remove the folder while the broker is down.",
)
TOPIC_ID_ASSIGNED = EventKind(
    "topic-id-assigned",
    cause="A topic from before Kafka 2.8 has an id now.",
    remedy="Nothing.",
)
REPLICA_DELETED = EventKind(
    "replica-deleted",
    cause="The topic was deleted, or the partition is another broker's now.",
    remedy="Nothing.",
)
REPLICA_NOT_DELETED = EventKind(
    "replica-not-deleted",
    cause="The disk refused to rename a replica's folder away.",
    remedy="See log-dir-failed, which follows.",
)
DELETED_FILES_NOT_REMOVED = EventKind(
    "deleted-files-not-removed",
    cause="The disk refused to remove files that are marked `.deleted`.",
    remedy="Look at the disk; the next start removes them.",
)
TOPIC_CONFIG_IGNORED = EventKind(
    "topic-config-ignored",
    cause="A topic's configuration in ZooKeeper makes no sense: the broker's defaults hold.",
    remedy="Set the topic's configuration anew: `logquake topic config NAME KEY=VALUE`.",
)
QUOTA_IGNORED = EventKind(
    "quota-ignored",
    cause="ZooKeeper holds a quota that is no number. It limits nobody.",
    remedy="Set it again with kafka-configs.sh.",
)
USER_CONFIG_IGNORED = EventKind(
    "user-config-ignored",
    cause="A user's configuration in ZooKeeper makes no sense: what it says wrong does not count.",
    remedy="Set the user's credentials again, or mend the znode /config/users/NAME.",
)

# Moves between log directories

REPLICA_MOVE_BEGUN = EventKind(
    "replica-move-begun",
    cause="AlterReplicaLogDirs asked for it, or a copy from before the start goes on.",
    remedy="Nothing.",
)
REPLICA_MOVED = EventKind(
    "replica-moved",
    cause="The copy had everything and has taken the log's place.",
    remedy="Nothing.",
)
REPLICA_MOVE_CALLED_OFF = EventKind(
    "replica-move-called-off",
    cause="The replica is to be elsewhere, or is deleted: the copy goes.",
    remedy="Nothing.",
)
REPLICA_MOVE_ENDED = EventKind(
    "replica-move-ended",
    cause="The log directory that it came from, or went to, failed.",
    remedy="Mend the disk; ask for the move again.",
)
REPLICA_MOVE_STUCK = EventKind(
    "replica-move-stuck",
    cause="A batch that is to be copied is damaged; it is tried again after a rest.",
    remedy="As with records-damaged, or ask for the move to where the replica is: that calls it "
    "off.",
)

# Log directories

LOGS_LOADING = EventKind(
    "logs-loading",
    cause="Opening the logs takes long: how far it is, every few seconds.",
    remedy="Nothing. More `num.recovery.threads.per.data.dir` may shorten it.",
)
LOGS_LOADED = EventKind(
    "logs-loaded",
    cause="A log directory's logs are open, after a clean stop or an unclean one.",
    remedy="Nothing.",
)
LOG_REPAIRED = EventKind(
    "log-repaired",
    cause="After an unclean stop a log ended with bytes that are no whole batch, or did not follow "
    "what was before: they were cut off.",
    remedy="Nothing: the leader has what was acked. On every replica at once: power was lost.",
)
LOG_DIR_FAILED = EventKind(
    "log-dir-failed",
    cause="The disk refused to read or to write. The directory is offline, its partitions with it; "
    "the others go on.",
    remedy="Mend or replace the disk, and restart the broker.",
)
LOG_DIR_FAILURE_NOT_TOLD = EventKind(
    "log-dir-failure-not-told",
    cause="ZooKeeper did not take the notice of a failed log directory; it is sent again.",
    remedy="Nothing, if it stops. Else look at ZooKeeper.",
)

# Coordinators of groups and transactions

COORDINATOR_LOADED = EventKind(
    "coordinator-loaded",
    cause="The broker leads a partition of a coordinator's topic from now on, and has read its log "
    "from `before` to `after`; until then clients were told to wait.",
    remedy="Nothing. If it takes long: look whether compaction keeps up with the topic.",
)
COORDINATOR_RECORDS_LEFT_OUT = EventKind(
    "coordinator-records-left-out",
    cause="Records of a coordinator's topic cannot be read; the groups or transactions that they "
    "tell of may lack something.",
    remedy="As with records-damaged. Where another replica is sound, let it lead.",
)
GROUP_STATE_CHANGED = EventKind(
    "group-state-changed",
    cause="The subject is a group, `epoch` its generation: members joined, left, were not heard "
    "of, or were assigned what they consume; the reason tells which.",
    remedy="Nothing. If a group rebalances again and again: look whether its members commit in "
    "time, and at their `session.timeout.ms` and `max.poll.interval.ms`.",
)

# Transactions

TRANSACTION_TIMED_OUT = EventKind(
    "transaction-timed-out",
    cause="A transaction was not ended within its producer's transaction.timeout.ms. It is "
    "aborted, and its producer fenced.",
    remedy="Nothing, if the producer died. Else end transactions sooner, or allow them more time.",
)
TRANSACTION_MARKERS_FENCED = EventKind(
    "transaction-markers-fenced",
    cause="A partition has seen a later coordinator of the transaction, or a later epoch of its "
    "producer: this coordinator does not go on with it.",
    remedy="Nothing, if a later coordinator completes it. If readers of committed records stay "
    "where they are: `kafka-transactions.sh find-hanging`.",
)

# Who may do what

ACLS_CHANGED = EventKind(
    "acls-changed",
    cause="The ACLs of a resource were read, or changed by a request or by another broker.",
    remedy="Nothing.",
)
ACLS_IGNORED = EventKind(
    "acls-ignored",
    cause="The znode of a resource's ACLs, or the notice of a change, makes no sense or could not "
    "be written: what was known before stays in force.",
    remedy="Write the ACLs anew (`kafka-acls --add`, or the znode itself).",
)
TOKEN_IGNORED = EventKind(
    "token-ignored",
    cause="A delegation token's znode makes no sense: what was known of the token stays in force.",
    remedy="Delete the znode below /delegation_token/tokens, and have the token made anew.",
)
