"""Real ZooKeeper servers beside the brokers, one or an ensemble.

Their jars are those that PySpark's wheel carries.

program.py         the command line: Java, class path, JVM flags, zoo.cfg
class_archive.py   the JVM's class data archive that halves the start-up, made once
probe.py           asking a server whether it serves
server.py          the process: start, wait until it serves
session_end.py     ending somebody's session
"""
