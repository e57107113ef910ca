"""What groups and transactions are coordinated with: state that is a log, kept by who leads it.

A coordinator's topic (__consumer_offsets, __transaction_state) is compacted, and each of its
partitions holds the state of the keys that hash to it. The partition's leader coordinates them: it
reads the log from its start to its end into a state in memory, answers from that, and appends
whatever changes it before anybody is told.

    partitions.py      which partitions are led here: terms begin, are loaded, end
    term.py            one term: its state, and the way to append to its log
    loading.py         a log's way into a state, in chunks, on a worker thread
    replay.py          what of a batch is told to a state
    append_errors.py   what becomes of an append's error for each kind of client

Shared shell alone: what a record means and what a request does is the matter of each coordinator's
own folder. How one is built on it::

    class GroupPartition:                       # the state of one partition; pure
        def replay(self, record: LoggedRecord) -> None: ...
        def replay_marker(self, producer_id: int, *, committed: bool) -> None: ...

    class GroupCoordinator:                     # a TermOwner
        def new_state(self) -> GroupPartition: ...
        def term_began(self, term: Term[GroupPartition]) -> None: ...
        def term_ended(self, term: Term[GroupPartition]) -> None: ...

        def commit(self, group_id, ..., done):
            term = self.partitions.find(group_id)
            if isinstance(term, ErrorCode):     # NOT_COORDINATOR, COORDINATOR_LOAD_IN_PROGRESS
                return done(term)
            batch = term.state.decide(...)      # pure: a batch of records, or a refusal
            term.append(batch, ACKS_ALL, timeout_ms, on_appended)
"""
