"""The client's half of SASL: who we say that we are, and how. Pure: bytes in, bytes out.

authenticator.py    SaslClientAuthenticator: the exchange, whatever the mechanism is
logins.py           who we are, by mechanism; jaas.py: the text of sasl.jaas.config that says so
mechanism.py        the shape that mechanisms share
                    plain.py, scram_client.py, oauthbearer.py
scram_mechanism.py  SCRAM's keys; scram_messages.py: what both sides say

The broker's half is logquake.node.authentication.
"""
