"""Topics written: rows of a task on their way to their topics.

options.py       the connector's options of a write
writing.py       a task's rows, at least once
encoding/        as records of batches, many at once
one_by_one.py    as single records, slowly (deliveries.py: what becomes of them)
exactly_once.py  the same in one transaction with a mark
marks.py         what a mark says of a task that runs again (tally.py: of its rows)
task_clients.py  what a task needs of its clients
writers.py       what Spark writes a batch or a stream's epoch through
"""
