"""Requests that only the active controller serves; every other broker answers NOT_CONTROLLER."""

from __future__ import annotations

from abc import abstractmethod

from logquake.controller.controller import Controller
from logquake.node.requests.handler import B, Handler
from logquake.node.requests.request import Request
from logquake.wire.schema import Message


class ControllerOnly(Handler[B]):
    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def handle(self, request: Request, body: B) -> None:
        if self._controller.is_active:
            self.act(request, body)
        else:
            request.reply(self.not_controller(body))

    @abstractmethod
    def act(self, request: Request, body: B) -> None:
        """Handle it, as the controller's broker."""

    @abstractmethod
    def not_controller(self, body: B, /) -> Message:
        """The response that sends the client to the controller."""
