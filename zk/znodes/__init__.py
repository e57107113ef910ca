"""Every znode that Kafka 3.9 keeps: where it lies, and its data byte for byte as Kafka writes it.

A znode's class gives ``path(...)``, ``encode()`` and ``decode(data)``. Decoding is tolerant: keys
that are not known are ignored, so that a newer Kafka's data is read. Data that is no JSON object,
or lacks what is needed, raises MalformedZnode. Versions and zxids are not part of the data: they
come with the Stat of the read.

    brokers.py   /brokers/ids, /brokers/seqid
    control.py   /controller, /controller_epoch, and writes guarded by its version
    topics.py    /brokers/topics/T and the partition states below it
    configs.py   /config/... and its change notifications
    cluster.py   /cluster/id, /feature, /latest_producer_id_block
    acls.py      /kafka-acl, /kafka-acl-extended, and their change notifications
    consumers.py /consumers
    admin.py     /admin/..., /isr_change_notification, /log_dir_event_notification
    delegation_tokens.py   /delegation_token/tokens, without what makes them tokens
    parents.py   what every broker creates at its start
    json_text.py, map_order.py   the JSON of Kafka, in the order of Scala's and Java's hash maps

Source: kafka.zk.ZkData (3.9), and znodes that Kafka 3.9.1 wrote.
"""
