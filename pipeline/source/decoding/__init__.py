"""Stored batches as Arrow columns, many records at once: no Python object stands for a record.

    rows.py       the rows of one range, out of all this
    fields.py     where the fields of records lie, by numpy
    slices.py     Arrow arrays out of places in one buffer
    headers.py    the column of record headers
    group.py      some batches of magic 2, decompressed, one behind the other
    one_by_one.py the same columns out of single records, slowly: whatever else there is

Only one thing goes from record to record: finding where the next one begins (`ends_of`). All else
is done column by column, and a column that nobody asked for is not looked at: neither are its bytes
copied, nor checked. What does not look as nearly all records do raises UnusualError here, and the
records are read one by one by the codec of `wire`, which knows whether Kafka would take them.
"""
