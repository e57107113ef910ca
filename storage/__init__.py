"""One partition's log on disk, in Kafka 3.9's files, and the directory that holds many of them.

    disk.py                          the seam; real_disk.py and memory_disk.py stand behind it
    log_dir.py                       a log.dirs entry: lock, owner, checkpoints, partitions
    log.py                           one partition, the front: stage, commit, read, truncate, sync
      log_state.py                   what its parts share
      log_appender.py, staging.py    what may be appended, and where the log rolls
      segment_outlook.py             when it does
      log_commit.py                  writing what is staged
      log_reader.py, log_slice.py    reads, by offset and by time
      log_cuts.py, log_sync.py       truncation; fsync in three steps
      log_start.py, log_retention.py where the log starts; old segments go (retention.py says which)
      log_files.py, log_recovery.py  segments, epochs and snapshots as written; repair after a crash
    segments.py, segment.py          .log files with their sparse indexes (index_file.py)
    leader_epochs.py                 which epoch wrote which offsets
    producer_state.py                what is known of each producer (producer_entry.py)
      producer_rules.py              what a leader refuses of it
      producer_snapshots.py          the .snapshot files; producer_recovery.py: after a start
    transactions.py, txn_index.py    what is not decided yet; what was aborted
      log_transactions.py            the two of them for readers of committed records
    dump/                            files as text
    verify/                          is a directory sound (both over read_only_disk.py)

Power loss: what sync() covered survives, whatever pages and folder changes the disk dropped after
it; tests/storage cuts the power at every change and checks.
"""
