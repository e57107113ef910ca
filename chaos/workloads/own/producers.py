"""Producers without transactions, over our client."""

from __future__ import annotations

from logquake.chaos.workloads.life import Life
from logquake.chaos.workloads.own.sending import OwnSender
from logquake.chaos.workloads.own.settings import IDEMPOTENT, PLAIN, own_settings
from logquake.chaos.workloads.plan import WorkloadKind
from logquake.chaos.workloads.producers import SteadyProducer
from logquake.chaos.workloads.sending import SentRows
from logquake.client import Producer


def own_steady_producer(life: Life) -> SteadyProducer:
    return SteadyProducer(life, own_sender)


def own_sender(life: Life) -> OwnSender:
    plan = life.plan
    defaults = IDEMPOTENT
    if plan.kind is WorkloadKind.PLAIN:
        defaults = {**PLAIN, "acks": plan.acks}
    producer = Producer(own_settings(life, defaults))
    return OwnSender(producer, plan.topic, SentRows(life.history, plan.topic))
