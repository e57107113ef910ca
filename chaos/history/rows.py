"""One row of a history: what one process did, was told or saw, and when.

Clients, the harness and the brokers' journals write the same rows, so that one run can be read in
the order of time. Fields that a kind does not name below are None.

at_us       wall clock of the machine in microseconds, when the row was written. An answer is
            written after it came, a question before it is asked: an operation lies between the two.
process     who wrote it: "producer-3", "member-1", "broker-2", "harness". One life of one program
            in one file; what is started again after a kill has another name.
sequence    1, 2, 3... within the process
what        the kind, below; in a journal's rows any kind of `controller/journal_events.py` and
            `node/journal_events.py`
subject     what it is about: a topic-partition "orders-3", a group, a transactional id, "broker-2"
epoch       of the leader, the group's generation, the producer, the controller, as the kind says
offset      of one record, or the first of several
value       the number of a send, unique in a run (numbers.py)
values      the numbers of the records at offset, offset + 1, ...; -1 for one that no workload sent
key         of a record, as text
group       in whose name a member acts
before      JSON
after       JSON
why         in words; of what failed, the name of Kafka's or librdkafka's error
caused_by   the sequence of an earlier row of the same process

Every process
    began                 subject: the process; after: what it was told to do, as an object with
                          "kind" and "seed", and of a producer "acks" ("0", "1", "all"),
                          "idempotent" and "transactional_id"; of a reader "isolation"
                          ("read_committed", "read_uncommitted")
    ended                 subject: the process; why: what it could not go on after, if that is why.
                          It is the last row; without it, the process was killed, or still runs

Producers: each send has one outcome at most. Without one it counts as unknown.
    send                  before the record is handed to the client. subject: the partition, which
                          the workload chose; value; key; after: "tombstone" for a null; in a
                          transaction caused_by: its transaction-begun; before: of what was made
                          of another record, that one's place, ["orders-3", 812]
    acked                 subject; value; key; offset (None for acks=0); caused_by: the send
    refused               certainly not appended. subject; value; key; why; caused_by: the send
    unknown               it may be in the log, or come later: a time-out, a lost connection,
                          NOT_LEADER_OR_FOLLOWER. As refused

Transactions: subject is the transactional id
    transaction-begun
    transaction-ending    about to ask. after: "commit" or "abort"; caused_by: transaction-begun
    transaction-ended     after: "committed", "aborted" or "unknown"; why; caused_by:
                          transaction-begun. Without it: unknown, if the end was asked for, else it
                          is never committed

Readers, with or without a group
    assigned              a row for each partition. subject: the partition; group; epoch: the
                          generation, where the reader has a group; offset: where reading begins,
                          where that is known. One that is assigned what it holds (after a
                          transaction that was aborted, say) begins again. A client that loses
                          its place and takes another tells nothing: it polls somewhere else
    revoked               subject; group; epoch; after: "revoked" (it may still commit) or "lost"
    polled                handed to the application: a run of contiguous offsets of one leader
                          epoch. subject; group; offset: the first; values; epoch: the leader's, -1
                          where the broker does not say
    commit-asked          subject; group; offset: the one to go on from; epoch: the generation; in a
                          transaction caused_by: transaction-begun, whose outcome it shares
    commit-answered       subject; group; offset; after: "kept", "refused" or "unknown"; why;
                          caused_by: commit-asked

The links of a cluster, of clients that somebody has asked them to watch. key: the client's id
    exchanged             when an answer went to the client, or when none can any more. subject:
                          Kafka's name of the API, "Produce"; before, after: objects, which
                          `cluster/links/requests/telling.py` describes, with "asked_us",
                          "connection" and "to" in before; why: "no answer"

Who reads topics of such clients in the end. at_us: when the record was made; key: the client's id
    stored-twice          subject: the partition; offset: where it is again; before: where it was
    stored-late           behind one that was made after it. subject; offset; before: that one's

The harness
    fault-begun           before it is done. subject: to whom ("broker-2", "broker-1->broker-2");
                          after: the fault as an object with "kind"; why
    fault-ended           after it was undone. subject; caused_by: fault-begun
    observed              what a partition's leader and ZooKeeper said within one look
                          (`chaos/observer.py`). subject: the partition; epoch: the leader's;
                          offset: the high watermark; after: an object with "leader", "isr" (null
                          if it changed meanwhile), "replicas", "log_start", "last_stable" and
                          "log_ends" (by broker, those that answered). What was not answered is null
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

NOT_SENT = -1  # among values: no workload sent that record


class Kind(StrEnum):
    BEGAN = "began"
    ENDED = "ended"
    SEND = "send"
    ACKED = "acked"
    REFUSED = "refused"
    UNKNOWN = "unknown"
    TRANSACTION_BEGUN = "transaction-begun"
    TRANSACTION_ENDING = "transaction-ending"
    TRANSACTION_ENDED = "transaction-ended"
    ASSIGNED = "assigned"
    REVOKED = "revoked"
    POLLED = "polled"
    COMMIT_ASKED = "commit-asked"
    COMMIT_ANSWERED = "commit-answered"
    EXCHANGED = "exchanged"
    STORED_TWICE = "stored-twice"
    STORED_LATE = "stored-late"
    FAULT_BEGUN = "fault-begun"
    FAULT_ENDED = "fault-ended"
    OBSERVED = "observed"


class Row(NamedTuple):
    """A tuple, of which there are millions: a frozen dataclass takes five times as long to make."""

    at_us: int
    process: str
    sequence: int
    what: str  # a Kind, or an event of a journal
    subject: str
    epoch: int | None = None
    offset: int | None = None
    value: int | None = None
    values: Sequence[int] | None = None
    key: str | None = None
    group: str | None = None
    before: Any = None
    after: Any = None
    why: str | None = None
    caused_by: int | None = None
