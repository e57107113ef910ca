"""Compaction: of every key the latest record stays (Kafka's LogCleaner).

policy.py          which log is dirtiest, and which part of it may be cleaned
states.py          who may clean a partition now
plan.py            what to read, how to group it, within which bounds
cleaning.py        the worker's part, in slices
  mapping.py       the dirty part's keys into offset_map.py
  grouping.py      small segments become one
  source.py        what is read
  rewriting.py     what is left of a batch; record_filter.py and transactions.py decide
  cleaned_segment.py  what is written
swap.py            the renames, and what a crash among them leaves
../throttle.py      log.cleaner.io.max.bytes.per.second
"""
