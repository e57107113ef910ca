"""The .log files of one partition and the indexes beside them.

segments.py        all of a log's, by base offset: an immutable list, replaced as a whole
segment.py         one: append, read, find by offset and by time, truncate
  log_file.py        .log, and its descriptor; batch_walk.py: headers from a boundary on
  sparse_indexes.py  .index and .timeindex (index_file.py); index_proof.py: is an entry true
  txn_index.py       .txnindex
  recent_batches.py  where the latest batches lie: most reads look no further
outlook.py         when an active segment makes way for the next
open_files.py      the bound on descriptors that all logs share
"""
