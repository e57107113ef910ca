"""The controller's lines to the brokers: what they are told, and whether somebody is there.

request_batch.py    who must be told what after a decision (ControllerBrokerRequestBatch)
request_content.py  what LeaderAndIsr, UpdateMetadata and StopReplica say
channel_manager.py  a channel to every broker (ControllerChannelManager)
broker_channel.py   one request in flight, repeated until it is answered (RequestSendThread)
vigil.py            whether a broker's address refuses connections
reachability.py     a vigil over every registered broker
"""
