"""The members of one classic group, as a state machine without a shell (Kafka's GroupMetadata).

An event is a function over a `ClassicGroup`: a member joins (``joining``), asks for its assignment
(``syncing``), says that it is alive (``heartbeats``) or leaves (``leaving``); a deadline passes
(``deadlines``); what was to be stored is stored (``storing``); the group ceases to be here
(``ending``). Each is told the `Moment`, and what follows of it lies in
`ClassicGroup.take_effects`: answers, a record to be stored, changes of state to be told. Nothing
here waits, writes or sends.

The order is the promise: an assignment is answered after the record that holds it is stored, so
that the next coordinator knows every generation that a member has seen.

Caveat: Kafka guards against a group that another thread is just taking away, and answers
COORDINATOR_NOT_AVAILABLE. One loop owns all groups here, and nobody meets one that is Dead.
"""
