"""The offsets of one group, as its part of __consumer_offsets says (Kafka's GroupMetadata).

    committed.py      what is committed for a partition
    group_offsets.py  all that a group has: committed, on their way, of open transactions
    expiration.py     which of them are too old (KIP-211)
    records.py        as records of __consumer_offsets, and read from them again
    settings.py       what bounds them

Pure: what is to be written comes out as batches, and what was written comes in by replay, the same
way at a load as when an append has been answered.
"""
