"""What Kafka's controller decides, without ZooKeeper, network or clock.

partitions.py      the values: who holds a partition, who leads it, in which state
election.py        who leads next, and with which ISR
isr_change.py      may a leader's proposal become the ISR
assignment.py      which brokers hold the partitions of a new topic
topic_rules.py     what a topic may be called, and be made of
topic_config.py    which configuration it may have
message_format.py  which releases of Kafka a topic's configuration may name
"""
