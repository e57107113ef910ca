"""What TLS needs of the outside, for brokers and clients alike: keys, certificates, contexts.

settings.py   what the ssl.* keys say
stores.py     certificates and keys out of PEM texts, PEM files, PKCS#12 files and Java's own
jks.py        the format of Java's own
contexts.py   what Python's ssl needs of them
"""
