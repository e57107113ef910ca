"""Every message of a ZooKeeper-mode Kafka 3.9 broker, one module per area.

Each module reads as a specification: fields in wire order, with the versions that have them;
a field without a range is in all. A message's docstring says what its versions brought; a
version it does not mention equals the one before. Names are Kafka's own in snake case. Where
one module has two structs of one name, the message's name stands in front.
"""
