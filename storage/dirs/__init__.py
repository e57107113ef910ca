"""The entries of log.dirs, and what lies in them besides logs.

log_dirs.py            all of them: where a partition's log is, or where it goes
log_dir.py             one: its lock, its logs, its -future copies
  opening.py             what a start does with it; load_progress.py tells how far that is
  stored_logs.py         the logs in it, by their folders
  interrupted_moves.py   partitions that lie in two directories, or half in one
  log_offsets.py         what its checkpoints say; checkpoints.py writes them, on any thread
  deleted_folders.py     partitions that wait for their removal
  meta_properties.py     whose it is
  clean_shutdown.py      .kafka_cleanshutdown
"""
