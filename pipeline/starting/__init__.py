"""What sessions and their workers start from.

class_archive.py  what a driver's JVM need not load anew
shipping.py       this package, for workers on other machines
worker_daemon.py  what Python workers are forked from
"""
