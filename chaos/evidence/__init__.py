"""What a run leaves behind, from three sides that know nothing of each other, brought together.

clients.py    what clients did: columns of sends and of what was read
gathering.py  columns of clients' and the harness's rows -> clients.py
few_rows.py   of these rows the few that are no columns there
columns.py    Arrow's columns as numbers
places.py     where things lie in columns
shares.py     a Parquet file of rows cut into shares of its partitions
log_files.py  brokers' data directories -> every replica's batches and records
stored.py     one replica's log, in columns
decisions.py  ZooKeeper's writes -> leaders, ISRs, controllers, registrations
decided_rows.py   the same as a controller's journal would have it
kafka_output.py   what Apache Kafka's brokers print -> rows of a journal
evidence.py   all of it, as checkers are handed it
"""
