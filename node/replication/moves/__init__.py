"""Moving replicas between the log directories of one broker (KIP-113).

    moves.py        all moves: asked for, resumed, called off; how many at a time
    move.py         one move: copy, sync, catch up, swap
    alignment.py    where the copy parts from the log, and what it lacks besides records
    copy_step.py    one piece, copied on a worker thread

Kafka's ReplicaAlterLogDirsManager and its threads. A move ends under every load that grows slower
than it copies: the last piece is copied on the loop, where nothing is appended in between.
"""
