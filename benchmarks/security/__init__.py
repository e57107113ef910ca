"""What it costs to say who one is, and to be read by nobody else: TLS and SCRAM, one broker each.

``brokers`` starts them, ``connects`` and ``throughput`` measure.
"""
