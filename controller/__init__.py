"""The elected controller: what it decides, and the one queue through which it decides.

    controller.py        the candidate that every broker hosts: requests, watches, session events
    office.py            standing for election, terms, what ends them
    event_queue.py       one event at a time
    failover.py          the first acts of a term
    events/              what happens in a term, one module an event
    context.py, partition_groups.py      what is known in a term
    election.py, isr_change.py, assignment.py, topic_rules.py    decisions, pure
    partition_moves.py, replica_moves.py, topic_deletion.py      decisions written and told
    request_batch.py, request_content.py, outbox.py              what brokers are told, and how
    set_aside.py         znodes that make no sense
    session_work.py      what outlives the session it was begun in
    guarded_zk.py, candidacy.py, watched_reads.py                ZooKeeper

Decisions are functions over values, without ZooKeeper, network or clock. What is decided is
written under the guard of the controller's epoch first, taken into the context then, told last.
"""
