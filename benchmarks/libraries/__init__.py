"""Kafka clients for Python beside each other: ours, kafka-python, aiokafka, confluent-kafka.

Each run is a process of its own (``child``), so that its CPU and its memory are its client's alone.
``load`` is what is asked of it, ``blocking`` and ``awaiting`` are producers by their ways,
``reading`` are consumers, ``cases`` holds them side by side.
"""
