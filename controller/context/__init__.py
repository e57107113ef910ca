"""What the controller knows of the cluster in one term of office (Kafka's ControllerContext).

controller_context.py  brokers, topics, assignments, leaders, states
live_broker.py         a broker that is registered, and its epoch
partition_groups.py    partitions by broker, by leader, by state
"""
