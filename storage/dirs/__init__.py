"""The entries of log.dirs, and what lies in them besides logs.

log_dirs.py            all of them: where a partition's log is, or where it goes
log_dir.py             one: its lock, its logs, its -future copies
  stored_logs.py         finding and opening its logs; load_progress.py tells how far that is
  interrupted_moves.py   partitions that lie in two directories, or half in one
  checkpoints.py         when which checkpoint is written
  meta_properties.py     whose it is
  clean_shutdown.py      .kafka_cleanshutdown
partition_metadata.py  a partition's topic id
"""
