"""Who clients are, and who may do what."""

from __future__ import annotations

from typing import Any

from logquake.node.composition.parts import Parts
from logquake.node.life.scram_administration import ScramAdministration
from logquake.node.requests.acls import CreateAcls, DeleteAcls, DescribeAcls
from logquake.node.requests.delegation_tokens import (
    CreateDelegationToken,
    DescribeDelegationToken,
    ExpireDelegationToken,
    RenewDelegationToken,
)
from logquake.node.requests.handler import Handler
from logquake.node.requests.sasl import SaslAuthenticate, SaslHandshake
from logquake.node.requests.user_scram_credentials import (
    AlterUserScramCredentials,
    DescribeUserScramCredentials,
)


def security_handlers(parts: Parts) -> list[Handler[Any]]:
    users = ScramAdministration(parts.session)
    return [
        SaslHandshake(),
        SaslAuthenticate(),
        DescribeAcls(parts.acls),
        CreateAcls(parts.acls),
        DeleteAcls(parts.acls),
        DescribeUserScramCredentials(users),
        AlterUserScramCredentials(users, parts.controller, parts.authorizer),
        *_of_tokens(parts),
    ]


def _of_tokens(parts: Parts) -> list[Handler[Any]]:
    tokens, authorizer = parts.tokens, parts.authorizer
    protocols = {e.listener: e.security_protocol for e in parts.settings.listeners.listeners}
    return [
        CreateDelegationToken(tokens, authorizer, protocols),
        RenewDelegationToken(tokens, authorizer, protocols),
        ExpireDelegationToken(tokens, authorizer, protocols),
        DescribeDelegationToken(tokens, authorizer, protocols),
    ]
