"""A Kafka cluster to break on purpose: see README.md. Each room is a package of its own.

This file is here for those who import from the wheel as it is, as Spark's workers do: from a zip
Python takes no package that has none.
"""
