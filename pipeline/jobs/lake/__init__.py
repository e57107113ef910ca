"""Topics as Parquet files, by topic, date and hour: each row once, whenever the job dies.

    shape.py      what columns a row has: the record as it is, or what its JSON says
    state.py      how far a lake is
    ledger.py     which files count: a batch's are written aside, decided on, moved, committed
    staged.py     what Spark has written of a batch
    planning.py   what the next batch reads
    compacting.py which small files become one
    lake.py       the job: batch by batch
    report.py     what it says of itself
    command.py    its arguments

A lake is a folder that the driver and all executors reach. Beside the rows it has `_lake`, which
Spark and others that read Parquet pass by: `state.json`, how far it is; `pending.json`, a batch
that is being moved; `staging`, one that is being written, in a folder of each run; `lock`, held by
the job that may write.

Caveats: file systems that rename (not object stores); who reads while small files are merged may
see rows of that hour twice, until the merged ones are gone.
"""
