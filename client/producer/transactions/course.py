"""A producer's present state, and what changes it (TransactionManager.transitionTo)."""

from __future__ import annotations

from logquake.client.errors import (
    ClientError,
    ProducerBrokenError,
    ProducerFencedError,
    TransactionFailedError,
)
from logquake.client.producer.idempotence.identity import Identity
from logquake.client.producer.idempotence.sequences import SequenceBook
from logquake.client.producer.transactions.enlisted import Enlisted
from logquake.client.producer.transactions.producer_states import (
    Aborting,
    Broken,
    Committing,
    Failed,
    Initializing,
    InTransaction,
    Ready,
    Remedy,
    State,
    Uninitialized,
)


class Course:
    """``can_take_epochs``: a producer that names its epoch gets the next one (KIP-360)."""

    def __init__(self) -> None:
        self.state: State = Uninitialized()
        self.identity: Identity | None = None
        self.can_take_epochs = False
        self.enlisted = Enlisted()
        self.sequences = SequenceBook()

    # What goes wrong

    def fail(self, error: ClientError, remedy: Remedy = Remedy.ABORT) -> None:
        """The transaction cannot be committed. An abort that is under way continues."""
        if remedy and not self.can_take_epochs:
            self.break_down(error)
            return
        match self.state:
            case InTransaction() | Committing():
                self.state = Failed(error, remedy)
            case Failed(_, before):
                self.state = Failed(error, max(before, remedy))
            case Aborting(before):
                self.state = Aborting(max(before, remedy))
            case _:
                pass  # no transaction is open that it could concern

    def fail_to_end(self, error: ClientError, remedy: Remedy) -> None:
        """The coordinator has not ended the transaction: abort_transaction() may be repeated."""
        self.fail(error, remedy)
        if isinstance(self.state, Aborting):
            self.state = Failed(error, self.state.remedy)

    def break_down(self, error: ClientError) -> None:
        if not isinstance(self.state, Broken):
            self.state = Broken(error)

    def check(self) -> None:
        """Raises TransactionFailedError, ProducerFencedError, or ProducerBrokenError."""
        error = self.error()
        if error is not None:
            raise error

    def error(self) -> ClientError | None:
        """The error for the program while only an abort, or nothing at all, is possible."""
        match self.state:
            case Failed(error):
                return TransactionFailedError(error)
            case Broken(ProducerFencedError() as error):
                return error
            case Broken(error):
                return ProducerBrokenError(error)
            case _:
                return None

    # What goes well

    def ended(self) -> bool:
        """Returns whether the next transaction first needs the next epoch."""
        needs_epoch = isinstance(self.state, Aborting) and self.state.remedy > Remedy.ABORT
        self.enlisted = Enlisted()
        self.state = Initializing() if needs_epoch else Ready()
        return needs_epoch

    def named(self, identity: Identity) -> None:
        """Take the new id and epoch; anything sent under others is over."""
        self.identity = identity
        self.enlisted = Enlisted()
        self.sequences.forget_all()
        self.state = Ready()

    def denied(self) -> None:
        self.state = Uninitialized()
