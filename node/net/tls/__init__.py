"""TLS on the sockets of the loop, by Python's ssl; logquake.seams.tls has keys and certificates.

handshake.py  from a connected socket to a secured one, step by step
tls_socket.py the secured one, with the calls of a plain socket that a connection makes
"""
