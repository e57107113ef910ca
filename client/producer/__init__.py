"""Producing: records gather in batches, partition by partition, and leave as brokers take them.

    partitioning.py   which partition a record goes to; hashing.py: by its key
    leaders.py        what a producer wants to know of a cluster
    delivery.py       what becomes of one record; turns.py: who is told next
    filling.py        the records of a batch, while it is open; runs.py: many of them at once
    batch.py          records that travel together
    ratios.py         how well a topic's records compress
    memory.py         buffer.memory; memory_waits.py: who waits for it
    settings.py       the accumulator's keys, and the sender's
    queues.py         batches that wait, partition by partition
    ready.py          to whom there is something to send
    sequence_order.py how sequences follow each other
    numbering.py      whether a batch has to wait for the sequences before it
    drain.py          what is sent to a broker next
    accumulator.py    all batches from append until they are done; appended.py: what it answers
    sequences.py      the sequences of partitions; sequencing.py: batches that go by them
    identity.py       producer ids and epochs
    idempotence.py    each record once and in order
    id_requests.py    asking for a producer id
    transactions/     batches and offsets that count together, or not at all
    asking.py         what is asked besides: for an id, or of coordinators
    produce_requests.py a request of batches, and what its answer says of each
    sender.py         the accumulator's batches, sent over the network core
    record.py         what a program sends; serializing.py, interceptors.py: what it makes of it
    preparing.py      who calls those
    topic_waits.py    waiting until a topic is known
    admitting.py      whether the accumulator may be handed something, and what that waits for
    appending.py      handing it a record, in time; appending_rows.py: many at once
    statistics.py     what a sender has done, and what failed
    producing.py      all that a program does with a producer; configured.py: what it is set to
    facade.py         what those have in common that drive it

`logquake.client.sync` and `logquake.client.aio` drive it.
"""
