"""Replication: what a broker knows of its replicas, and the rules by which data becomes committed.

    manager.py          puts the parts together, and ends each pass; values.py: what they exchange
    state_changes.py    what the controller says, one command after the other (command_queue.py)
    log_dir_failures.py what a failed disk means; log_dir_sizes.py: what lies where
    moves/              replicas that go to another log directory
    hosting.py          partitions come and go, their logs with them; hosted.py: those that are here
    appends.py          what a pass brings to be appended, written together at its end
    purgatories/        requests that wait for others: Produce, Fetch, DeleteRecords
    background/         what happens by time: lag, syncs, checkpoints, retention
    fetcher/            a follower's side of replication
    cleaner/            compaction on worker threads
    partition/          one partition: the pure rules, the roles, reading and writing
    fetch_sessions.py   KIP-227; resting.py: partitions that a session need not look at
    settings.py         the broker's, and what a topic's say of its partitions

Everything runs on one loop without locks; time comes from the scheduler, bytes through
storage's Log, other brokers through the Network seam. Begin with partition/.

Caveats: no follower throttling, no tiered storage.
"""
