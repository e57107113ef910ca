"""Message sets, as before record batches: magic 0 (Kafka to 0.9) and magic 1 (0.10, KIP-32).

    entry.py      one entry: its header, its CRC-32, its key and value
    nesting.py    the records of an entry: itself, or those compressed within it
    building.py   entries out of records
    produced.py   what a leader refuses of a message set, and its conversion to a batch of magic 2
    downward.py   batches of a newer format as an old consumer can read them

An entry is a 64-bit offset, a size and a message: CRC-32, magic, attributes, in magic 1 a
timestamp, key and value. A compressed entry (a wrapper) has a message set as its value and the
offset of the last record within; the offsets within are absolute in magic 0, in magic 1 relative
to the first (KIP-31). There are no headers, producers, transactions or leader epochs.

Caveats: entries within entries are read one deep, as Kafka writes them. zstd is newer than both
formats and is refused in them.
"""
