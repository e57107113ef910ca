"""Kafka clients for Python beside each other: ours, kafka-python, aiokafka, confluent-kafka.

Each run is a process of its own (``child``), so that its CPU and its memory are its client's alone.
``load`` is what is asked of it, ``blocking`` and ``awaiting`` are the clients by their ways,
``cases`` holds them side by side.
"""
