"""Is a log directory sound? Everything in it is read and held against everything else.

    log_dirs.py         the door: Verification
    dir_check.py        one log.dirs entry: whose it is, its checkpoints, its folders
    partition_check.py  one partition: its segments in order, its bounds
    folder_check.py     what lies beside the segments
    swap_check.py       cleaned segments that wait to take their place
    segment_check.py    one segment, batch by batch
    batch_check.py      one batch: checksum, records, offsets, timestamps
    order_check.py      offsets and leader epochs from batch to batch
    index_checks.py     .index and .timeindex beside the walk through the log
    producer_check.py   .snapshot and .txnindex against producers rebuilt from the log
    expectations.py     what the checkpoints promise of a partition
    report.py           what was read and found
    findings.py         what is not as it should be
    progress.py         how far it is

A damage makes a directory unsound: something is lost, or a broker would answer wrongly or not
start. A note is worth telling and no more: what the next start will repair, or what nobody knows.
After a crash indexes and the end of a log may be behind: what recovery rebuilds is a note.
While a broker runs only what lies below the checkpointed high watermark is looked at, since the
rest still changes.

Memory is bound by the largest batch (Limits), the index entries of aborted transactions, and the
producers of one partition. Caveats: whether a topic is compacted is not written in the directory;
it is taken from the cleaner's checkpoint, and can be said. Of compacted partitions neither gaps nor
producers are judged. A producer that a broker had forgotten is not missed in a snapshot.
"""

from logquake.storage.verify.findings import Finding, Severity
from logquake.storage.verify.log_dirs import Verification
from logquake.storage.verify.progress import Progress
from logquake.storage.verify.report import Report

__all__ = ["Finding", "Progress", "Report", "Severity", "Verification"]
