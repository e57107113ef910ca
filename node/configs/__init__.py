"""What a broker is set to, and what of it may change while it runs (KIP-226, KIP-339, KIP-412).

broker_keys.py       every key of KafkaConfig, from broker_keys.txt; which of them are dynamic
layers.py            static, default of all brokers, this broker's own: what goes before what
topic_settings.py    what topics obey that say nothing
rules.py             which changes are taken, in Kafka's order and words
alteration.py        single operations, over what is set
describing.py        what DescribeConfigs tells of all that
broker_config.py     this broker's layers, as they change; loggers.py: its log levels
entities.py          what ZooKeeper holds: read, written, told to the other brokers
changes.py           and heard of
"""
