"""Requests to brokers that the test plays: each is answered once."""

from __future__ import annotations

from logquake.seams.network import Disconnected, Endpoint
from logquake.wire.messages.metadata import MetadataRequest, MetadataResponse
from logquake.wire.schema import Message
from tests.doubles.network import InFlight, ScriptedNetwork

HERE = Endpoint(1, "one", 9092)


def test_an_answer_counts_once() -> None:
    answers: list[Message | Disconnected] = []
    channel = (network := ScriptedNetwork()).channel(HERE, "broker-2")
    channel.send(MetadataRequest(), 12, answers.append)
    (sent,) = network.sent
    assert (sent.endpoint, sent.client_id, sent.version) == (HERE, "broker-2", 12)
    sent.done(MetadataResponse())
    sent.done(Disconnected("too late"))
    channel.close()
    assert answers == [MetadataResponse()]


def test_closing_answers_what_is_in_flight() -> None:
    answers: list[Message | Disconnected] = []
    channel = (network := ScriptedNetwork()).channel(HERE, "broker-2")
    for _ in range(2):
        channel.send(MetadataRequest(), 12, answers.append)
    network.sent[1].done(MetadataResponse())
    channel.close()
    assert answers == [MetadataResponse(), Disconnected("closed")]


def test_requests_are_told_apart_although_they_go_to_the_same_place() -> None:
    answers: list[Message | Disconnected] = []
    in_flight = InFlight()
    first, second = in_flight.add(answers.append), in_flight.add(answers.append)
    first(MetadataResponse())
    assert first not in in_flight
    assert second in in_flight


def test_nobody_hears_what_was_forgotten() -> None:
    answers: list[Message | Disconnected] = []
    in_flight = InFlight()
    answer = in_flight.add(answers.append)
    in_flight.forget()
    answer(MetadataResponse())
    in_flight.lose("reset")
    assert answers == []
