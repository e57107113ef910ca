"""The workloads over our own client: the same programs, with another sender.

    settings.py     how it is set: as librdkafka is, in Kafka's names
    sending.py      sends, and what became of each
    producers.py    plain, idempotent, compacted
    transactions.py transactional
    reading.py      reads, and tells what it was handed
    members.py      members that commit what they took
    moving.py       mover

All kinds do, and the one that is impatient does it over requests of its own.
"""
