"""A real ZooKeeper server beside the brokers, from the jars that PySpark's wheel carries.

program.py         the command line: Java, class path, JVM flags, zoo.cfg
class_archive.py   the JVM's class data archive that halves the start-up, made once
probe.py           asking a server whether it serves
server.py          the process: start, wait until it serves
"""
