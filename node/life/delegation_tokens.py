"""A broker's delegation tokens: read in each new session, kept by notices, changed by requests.

Any broker makes and changes them, in ZooKeeper, and tells the others (DelegationTokenManagerZk).
The controller removes those that have expired.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from random import Random
from typing import Any

from logquake.node.authentication.scram_server import TokenCredential
from logquake.node.authentication.tokens import (
    TokenSettings,
    expired,
    has_expired,
    new_token,
    renewed,
    token_credential,
)
from logquake.node.journal_events import TOKEN_IGNORED
from logquake.seams.journal import Event, Journal
from logquake.seams.scheduler import Scheduler
from logquake.wire.errors import ErrorCode
from logquake.wire.principals import KafkaPrincipal
from logquake.wire.sasl.scram_mechanism import ScramMechanism
from logquake.wire.uuids import encode_uuid
from logquake.zk.change_notices import ChangeNotices
from logquake.zk.operations import (
    Create,
    Delete,
    Failed,
    GetChildren,
    GetData,
    Session,
    SetData,
    WatchEvent,
    ZkError,
)
from logquake.zk.paths import is_node_name
from logquake.zk.procedure import ZkFailure, attempt, attempt_all, perform
from logquake.zk.procedure_queue import ProcedureQueue
from logquake.zk.znodes.delegation_tokens import (
    TOKEN_CHANGE_PREFIX,
    TOKEN_CHANGES_PATH,
    TOKENS_PATH,
    TokenInformation,
    token_change_path,
)
from logquake.zk.znodes.json_text import MalformedZnode

_SALT_BYTES = 16


class DelegationTokens:
    """Without a secret key there are none, and whoever asks is told so."""

    def __init__(
        self,
        settings: TokenSettings,
        session: Session,
        scheduler: Scheduler,
        journal: Journal,
        random: Random,
        is_controller: Callable[[], bool],
    ) -> None:
        self.settings = settings
        self._scheduler = scheduler
        self._journal = journal
        self._random = random
        self._is_controller = is_controller
        self._queue = ProcedureQueue(session)
        self._notices = ChangeNotices(TOKEN_CHANGES_PATH, TOKEN_CHANGE_PREFIX, scheduler.now_ms)
        self._tokens: dict[str, TokenInformation] = {}
        self._ids: dict[bytes, str] = {}  # by HMAC
        self._credentials: dict[tuple[ScramMechanism, str], TokenCredential] = {}

    @property
    def is_enabled(self) -> bool:
        return self.settings.secret_key is not None

    @property
    def all(self) -> Collection[TokenInformation]:
        return self._tokens.values()

    def start(self) -> None:
        """Once, before the first session's read()."""
        if self.is_enabled:
            self._sweep_later()

    def read(self) -> None:
        """In each new session."""
        if self.is_enabled:
            self._queue.put(self._read_all)

    def on_watch(self, event: WatchEvent) -> None:
        if self._notices.is_about(event):
            self._queue.put(self._catch_up)

    def find(self, mechanism: ScramMechanism, token_id: str) -> TokenCredential | None:
        """For who authenticates with it; it takes some milliseconds the first time."""
        token = self._tokens.get(token_id)
        if token is None:
            return None
        known = self._credentials.get((mechanism, token_id))
        if known is None or known.expires_ms != token.expires_ms:
            salt = self._random.randbytes(_SALT_BYTES)
            credential = token_credential(mechanism, self.settings.hmac(token_id), salt)
            known = TokenCredential(token.owner.name, token.expires_ms, credential)
            self._credentials[mechanism, token_id] = known
        return known

    # Changing

    def create(
        self,
        owner: KafkaPrincipal,
        requester: KafkaPrincipal,
        renewers: Collection[KafkaPrincipal],
        max_lifetime_ms: int,
        done: Callable[[TokenInformation | ErrorCode], None],
    ) -> None:
        if not self.is_enabled:
            done(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
            return
        token_id = encode_uuid(self._random.randbytes(16))
        now_ms = self._scheduler.wall_ms()
        token = new_token(
            self.settings, token_id, owner, requester, renewers, max_lifetime_ms, now_ms
        )
        self._queue.put(lambda: self._settle(token_id, lambda: token, done))

    def renew(
        self,
        principal: KafkaPrincipal,
        hmac: bytes,
        period_ms: int,
        done: Callable[[TokenInformation | ErrorCode], None],
    ) -> None:
        def change(token: TokenInformation) -> TokenInformation | ErrorCode:
            now_ms = self._scheduler.wall_ms()
            return renewed(self.settings, token, principal, period_ms, now_ms)

        def told(outcome: TokenInformation | ErrorCode | None) -> None:
            done(ErrorCode.UNKNOWN_SERVER_ERROR if outcome is None else outcome)

        self._change(hmac, change, told)

    def expire(
        self,
        principal: KafkaPrincipal,
        hmac: bytes,
        period_ms: int,
        done: Callable[[int | ErrorCode], None],
    ) -> None:
        """done gets when it expires, or has expired: milliseconds since the epoch."""

        def change(token: TokenInformation) -> TokenInformation | ErrorCode | None:
            return expired(token, principal, period_ms, self._scheduler.wall_ms())

        def told(outcome: TokenInformation | ErrorCode | None) -> None:
            if outcome is None:
                done(self._scheduler.wall_ms())
            else:
                done(outcome if isinstance(outcome, ErrorCode) else outcome.expires_ms)

        self._change(hmac, change, told)

    def _change(
        self,
        hmac: bytes,
        change: Callable[[TokenInformation], TokenInformation | ErrorCode | None],
        done: Callable[[TokenInformation | ErrorCode | None], None],
    ) -> None:
        if not self.is_enabled:
            done(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)
            return

        async def carry_out() -> None:
            token_id = self._ids.get(hmac)
            if token_id is None:
                done(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
            else:
                await self._settle(token_id, lambda: change(self._tokens[token_id]), done)

        self._queue.put(carry_out)

    async def _settle(
        self,
        token_id: str,
        decide: Callable[[], TokenInformation | ErrorCode | None],
        done: Callable[[Any], None],
    ) -> None:
        outcome = decide()
        try:
            if not isinstance(outcome, ErrorCode):
                await self._write(token_id, outcome)
        except ZkFailure:
            outcome = ErrorCode.UNKNOWN_SERVER_ERROR
        done(outcome)

    async def _write(self, token_id: str, token: TokenInformation | None) -> None:
        """None removes it. Raises ZkFailure."""
        path = TokenInformation.path(token_id)
        if token is None:
            _check(await attempt(Delete(path)))
        elif _check(await attempt(SetData(path, token.encode()))):
            await perform(Create(path, token.encode()))
        self._take(token_id, token)
        await perform(Create(token_change_path(), token_id.encode(), sequential=True))

    # Reading

    async def _read_all(self) -> None:
        await self._notices.watch()
        ids = (await perform(GetChildren(TOKENS_PATH))).names
        for token_id in self._tokens.keys() - set(ids):
            self._take(token_id, None)
        await self._read(ids)

    async def _catch_up(self) -> None:
        await self._read({said.decode(errors="replace") for said in await self._notices.take()})

    async def _read(self, token_ids: Iterable[str]) -> None:
        ids = sorted(each for each in token_ids if is_node_name(each))
        reads = await attempt_all([GetData(TokenInformation.path(each)) for each in ids])
        for token_id, read in zip(ids, reads, strict=True):
            if isinstance(read, Failed):
                _check(read)
                self._take(token_id, None)
                continue
            try:
                self._take(token_id, TokenInformation.decode(read.data))
            except MalformedZnode as malformed:
                self._journal.record(Event(TOKEN_IGNORED, token_id, str(malformed)))

    def _take(self, token_id: str, token: TokenInformation | None) -> None:
        secret = self.settings.hmac(token_id)
        if token is None:
            self._tokens.pop(token_id, None)
            self._ids.pop(secret, None)
            for mechanism in ScramMechanism:
                self._credentials.pop((mechanism, token_id), None)
        else:
            self._tokens[token_id] = token
            self._ids[secret] = token_id

    # Expiry

    def _sweep_later(self) -> None:
        self._scheduler.call_later(self.settings.expiry_check_interval_ms, self._sweep)

    def _sweep(self) -> None:
        self._sweep_later()
        if self._is_controller():
            self._queue.put(self._remove_expired)

    async def _remove_expired(self) -> None:
        now_ms = self._scheduler.wall_ms()
        for token in [each for each in self._tokens.values() if has_expired(each, now_ms)]:
            await self._write(token.token_id, None)


def _check(outcome: object) -> bool:
    """Whether there was no such znode. Raises ZkFailure for any other refusal."""
    if isinstance(outcome, Failed) and outcome.error is not ZkError.NO_NODE:
        raise ZkFailure(outcome)
    return isinstance(outcome, Failed)
