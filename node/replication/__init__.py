"""Replication: what a broker knows of its replicas, and the rules by which data becomes committed.

    manager.py          puts the parts together, and ends each pass; values.py: what they exchange
    state_changes.py    what the controller says
    log_dir_failures.py what a failed disk means; log_dir_sizes.py: what lies where
    moves/              replicas that go to another log directory
    replicas.py         logs are made and deleted; hosted.py: all partitions that are here
    partition/          one partition: the pure rules, the roles, reading and writing
    appends.py          what a pass brings to be appended, written together at its end
    purgatories/        requests that wait for others: Produce, Fetch, DeleteRecords
    fetcher/            a follower's side of replication
    fetch_sessions.py   KIP-227
    cleaner/            compaction on worker threads
    background/         what happens by time: lag, syncs, checkpoints, retention

Everything runs on one loop without locks; time comes from the scheduler, bytes through
storage's Log, other brokers through the Network seam. Begin with partition/.

Caveats: no follower throttling, no tiered storage.
"""
