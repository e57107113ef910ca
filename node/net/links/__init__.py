"""Connections that this broker opens to others.

channel.py    TcpNetwork and TcpChannel: requests to one other broker, in order
link.py       the TCP connection beneath, from connecting to lost; connector.py opens it
tether.py     one that carries nothing, and tells by its end that the other is gone
"""
