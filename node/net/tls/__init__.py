"""TLS on the sockets of the loop, by Python's ssl.

settings.py   what the ssl.* keys of a listener say
stores.py     certificates and keys out of PEM texts, PEM files and PKCS#12 files
contexts.py   what Python's ssl needs of them
handshake.py  from a connected socket to a secured one, step by step
tls_socket.py the secured one, with the calls of a plain socket that a connection makes
"""
