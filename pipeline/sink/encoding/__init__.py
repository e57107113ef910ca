"""Arrow columns as records of batches, many at once: no Python object stands for a record.

    numbers.py    varints, by numpy
    cells.py      a column's cells: how many bytes each has, which are null
    hashing.py    which partition keys go to
    run.py        rows of one partition, encoded as a batch has room for them
    rows.py       rows of a topic, and the partitions that they go to
    plain.py      what Spark hands over, as rows of topics

The twin of `pipeline.source.decoding`. What does not look as nearly all rows do, one with headers
say, raises UnusualError here, and its batch's rows are handed over one by one.
"""
