"""What judging a run costs, by the length of its history.

The history is made up, and sound but for one loss, which must be found: whatever finds nothing may
not have looked.

    plan.py      what happens in a stretch of a second, by arithmetic: who sends what to where
    rows.py      the rows of all stretches, in the memory of one of them, as a Parquet file
    replicas.py  what brokers and ZooKeeper would have left behind
    process.py   judges such a history by all of it, in a process of its own
    watched.py   CPU time and memory of a process and its children
    cases.py     what is measured

CPU time, user and system, of all threads; memory at its highest.
"""
