"""Producing: records are gathered in batches by partition, and sent as brokers take them.

What a program calls:

    producing.py      the producer as a program uses it; configured.py: its settings
    facade.py         what the blocking and the asyncio producer have in common
    record.py         what a program sends
    appending/        what a send does until its record is in a batch
    delivery.py       the outcome of one record; turns.py: the order of callbacks
    statistics.py     a sender's statistics, and why things failed

Records until they are sent:

    accumulator.py    all batches from append until they are done; appended.py: what append returns
    partitioning.py   which partition a record goes to; hashing.py: by its key
    leaders.py        what a producer needs to know of a cluster
    batch.py          records that travel together
    filling.py        the records of an open batch; runs.py: many of them at once
    ratios.py         how well a topic's records compress
    memory.py         buffer.memory
    queues.py         waiting batches, by partition
    ready.py          which brokers have something to be sent
    drain.py          which batches a broker is sent next

Sending, once and in order:

    sender.py         sends the accumulator's batches over the network core
    produce_requests.py  a request of batches, and what its answer says of each
    other_requests.py for an id, or about transactions
    idempotence/      each record once and in order: ids, epochs, sequences
    sequence_order.py how sequences follow each other
    numbering.py      whether a batch waits for the sequences before it
    transactions/     batches and offsets that count together, or not at all
    settings.py       the keys that accumulator and sender heed

`logquake.client.sync` and `logquake.client.aio` drive it.
"""
