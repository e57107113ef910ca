"""Topics read: what a query wants, what of it a task reads, and its rows.

options.py    the connector's options of a read, parsed and refused
planning.py   offsets of a topic's partitions cut into ranges, one a task
pushdown.py   filters of a query that need not be read for
admission.py  how much a batch of a stream takes, and what of it is lost
reading.py    one range, on an executor, as Arrow record batches
decoding/     stored batches as Arrow columns
record_columns.py  the columns of a record
batch.py      what Spark asks for a batch's ranges and rows
stream.py     what Spark asks for a stream's batches
"""
