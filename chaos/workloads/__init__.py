"""What clients do to a cluster while it is broken: programs over confluent-kafka, with histories.

Each runs as a process of its own, ``python -m logquake.chaos.workloads KIND``, which can be paused,
killed and made a zombie. What it asks and is told goes into one file, row by row. What it draws, it
draws from a seed; the cluster's answers are not seeded. With ``--client java`` it does the same
over Kafka's own client, in a JVM; with ``--client logquake`` what sends does it over ours.

    plain           sends, with acks 0, 1 or all, and no idempotence: what is tried again is doubled
    idempotent      sends, acks=all
    compacted       the same over few keys, some of which it deletes
    transactional   sends in transactions over all partitions, and aborts a share of them
    mover           takes records of a topic to another one, with its offsets, in transactions
    member          of a group: takes, commits, leaves and joins again
    reader          reads a whole topic, in no group
    impatient       sends in transactions, and goes on without answers that are long in coming
    mixed           one or two of each, but none that is impatient

plan.py          the options
life.py          what each of them is handed
clients.py       librdkafka's settings, and what is to be known of it
sending.py       sends, and what became of each: acked, refused, unknown
sent_columns.py  that in memory, where rows would be too many
pacing.py        when the next one is due
producers.py     plain, idempotent, compacted
transactions.py  transactions and their ends; transactional
reading.py       what was handed on, in runs; reader
members.py       assignments and commits; member, mover
asking.py        a transactional producer's requests, each on a connection of its own
whom.py          whom it has to ask
impatient.py     impatient, which asks so
running.py       the table of kinds; the first row and the last
standing.py      lets go of who never returns from a call
processes.py     starts, pauses, kills and ends them, and programs that are not ours
commands.py      becomes one of those
mixed.py         mixed
kafka_names.py   settings of librdkafka's under Kafka's names
own/             what sends over our own client
java_program.py  compiles what is in java/, which does the same over Kafka's client, and runs it

readback.py      what a topic holds, for a program that wants to know it itself
"""
