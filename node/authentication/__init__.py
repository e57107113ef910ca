"""Who a client is: SASL, the mechanisms, and names in certificates. Pure: bytes in, verdicts out.

sasl_server.py    SaslServerAuthenticator: one connection's exchange, by Kafka's states
sasl_client.py    the other side, for our own connections to brokers
mechanisms.py     what each mechanism of a listener is made of
mechanism.py      the shape that they share
                  plain.py, scram_server.py, scram_client.py, oauthbearer.py
scram_messages.py what SCRAM says; scram.py: its keys and credentials
unsecured_jws.py  the tokens of OAUTHBEARER's unsecured form
jaas.py           the text of sasl.jaas.config
distinguished_name.py, principal_mapping.py
                  from a certificate's subject to a principal's name
"""
