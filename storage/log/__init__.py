"""One partition's log.

log.py             the front
  state.py           what its parts share
  appender.py        what may be appended: produced_batches.py, replicated_batches.py
  staging.py         where it will lie, and where the log rolls
  commit.py          writing what is staged
  reader.py, slice.py   reads, by offset and by time
  transactions.py    what readers of committed records must know
  cuts.py            truncation; owed_checkpoint.py: what must be written before
  sync.py            fsync in three steps
  start.py           where the log starts
  retiring.py        old segments go; deletable_segments.py says which, deleted_files.py frees them
opening.py         from a folder to the first read
  last_run.py        what is known before
  recovery.py        the scan after a crash; epoch_recovery.py where leader epochs were lost
files.py           segments, epochs and snapshots, as far as they are written
  leader_epochs.py   which epoch wrote which offsets (leader-epoch-checkpoint)
../log_config.py   a topic's settings
"""
