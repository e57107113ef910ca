"""The workloads over our own client: the same programs, with another sender.

    settings.py     how it is set: as librdkafka is, in Kafka's names
    sending.py      sends, and what became of each
    producers.py    plain, idempotent, compacted
    transactions.py transactional

Caveat: what reads runs over confluent-kafka.
"""
