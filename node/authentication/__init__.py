"""Who a client is: SASL, the mechanisms, and names in certificates. Pure: bytes in, verdicts out.

sasl_server.py    SaslServerAuthenticator: one connection's exchange, by Kafka's states
mechanisms.py     what each mechanism of a listener is made of
mechanism.py      the shape that they share
                  plain.py, scram_server.py, oauthbearer.py
scram.py          the credentials of SCRAM; credentials.py: who has which
unsecured_jws.py  the tokens of OAUTHBEARER's unsecured form
distinguished_name.py, principal_mapping.py
                  from a certificate's subject to a principal's name

The client's half, which brokers have among themselves, is logquake.wire.sasl.
"""
