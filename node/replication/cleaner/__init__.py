"""Compaction of the logs hosted here, in the background (the node's part of Kafka's LogCleaner).

candidates.py  which partition is next; which are held off, and which cannot be cleaned
cleaner.py     one cleaner: slices on a worker, swaps on the loop
log_cleaner.py all of them
"""
