"""Storage alone, in this process, each work beside the least that a machine must do for it.

The two sides are measured in turn, like two clusters: ``logquake`` does the work as the broker
does, ``limit`` moves and checks the same bytes with nothing around them. Read ``sides`` first, then
one module per work:

    append.py       a batch from the receive buffer into the log, by codec
    recovery.py     what a start scans after an unclean stop
    compaction.py   a log of which half survives
    lookup.py       where an offset, or a time, lies in a log of many segments
    index_load.py   the index of one full segment, read when it is first needed
    partitions.py   what a partition costs a process, in a process of its own
    batches.py      the records that all of them are about

Times are CPU time of the process, user and system, so a busy machine disturbs them less than wall
clock; what the disk does in the background is not in them. Caveat: a limit is one too: it is driven
from Python as well, and pays for a handful of calls a batch.
"""
