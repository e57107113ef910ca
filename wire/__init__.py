"""Kafka's bytes. Pure: no I/O, no clock, no logging.

errors           error codes, and the two exceptions of this room
topic_partition  the name of a partition, in every room
sentinels        what stands for none: no leader, no epoch, unknown offset
principals       who asks
acls             what access control lists are made of
uuids            the text form of Kafka's UUIDs
schema           field tables as typed classes, and the codec compiled from them
messages         the tables of Kafka 3.9, one module per area
api              API keys, and which messages belong to each
header           frames, request and response headers; whole requests and responses
refusals         the answer to a request that is refused as a whole
sasl             the client's half of authentication
versioned        messages with their version in front: coordinators' records, consumer protocol
records          record batches
compression      the codecs of batches, bounded
"""
