"""Log files as text, line for line what Kafka 3.9's DumpLogSegments prints of them.

    files.py              which file is what; the door: FileDump
    log_text.py           .log: batches and records
    index_text.py         .index and .timeindex, held against the log
    state_text.py         .txnindex and .snapshot
    checkpoint_text.py    checkpoints, meta.properties, partition.metadata: a shape of our own
    entries.py            the batches of a .log file, read as Kafka's tool reads them
    decoders.py           keys and values as text
    group_text.py         records of __consumer_offsets
    transaction_text.py   records of __transaction_state
    message_json.py       messages as Kafka's JSON
    scala_order.py        the order in which Scala prints sets and maps
    damages.py            what is wrong, in Kafka's words

Where the tool would end with a stack trace, the damage is named here and the dump goes on behind
it if it can.

Caveat: the records of KRaft's metadata are not decoded; brokers on ZooKeeper write none.
"""

from logquake.storage.dump.damages import Damages
from logquake.storage.dump.files import FileDump
from logquake.storage.dump.options import DumpOptions

__all__ = ["Damages", "DumpOptions", "FileDump"]
