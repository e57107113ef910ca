"""Each record once and in order: a producer's id, its epoch, and sequences (KIP-98, KIP-360).

identity.py       producer ids and epochs; id_requests.py: requests for them
sequences.py      the sequences of partitions
sequencing.py     batches with sequences, in transactions too
idempotence.py    all of it for a producer without transactions
"""
