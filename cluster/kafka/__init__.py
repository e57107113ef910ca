"""Apache Kafka's own brokers as members of a cluster: ``up --kafka``.

libraries.py  where its jars are
broker.py     a broker's JVM, and the server.properties that Kafka's broker is given

supervisor/kafka_program.py puts them in the place of ours. What chaos/ does from outside it does to
them too, and judges by the same evidence; nothing of ours runs inside of them.
"""
