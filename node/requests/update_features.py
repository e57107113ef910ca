"""UpdateFeatures (57), versions 0 and 1: finalised features of the cluster (KIP-584).

A broker in ZooKeeper mode supports no feature, and so none is ever finalised: a well-formed update
is refused as well (KafkaController.validateFeatureUpdate). validate_only has nothing to spare.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from logquake.controller.controller import Controller
from logquake.node.requests.handler import Handler
from logquake.node.requests.request import Request
from logquake.wire.api import ApiKey
from logquake.wire.errors import ErrorCode
from logquake.wire.messages.api_versions import (
    FeatureUpdateKey,
    UpdatableFeatureResult,
    UpdateFeaturesRequest,
    UpdateFeaturesResponse,
)

_NOT_CONTROLLER = "This is not the correct controller for this cluster."


class _UpgradeType(IntEnum):
    UNKNOWN = 0
    UPGRADE = 1
    SAFE_DOWNGRADE = 2
    UNSAFE_DOWNGRADE = 3


class UpdateFeatures(Handler[UpdateFeaturesRequest]):
    key = ApiKey.UPDATE_FEATURES
    versions = range(2)

    def __init__(self, controller: Controller) -> None:
        self._controller = controller

    def handle(self, request: Request, body: UpdateFeaturesRequest) -> None:
        if not self._controller.is_active:
            request.reply(
                UpdateFeaturesResponse(
                    error_code=ErrorCode.NOT_CONTROLLER, error_message=_NOT_CONTROLLER
                )
            )
            return
        version = request.header.api_version
        results = [
            UpdatableFeatureResult(
                feature=update.feature,
                error_code=ErrorCode.INVALID_REQUEST,
                error_message=_refusal(update, _upgrade_type(version, update)),
            )
            for update in _once(body.feature_updates)
        ]
        request.reply(UpdateFeaturesResponse(error_message=None, results=results))


def _once(updates: Iterable[FeatureUpdateKey]) -> Iterable[FeatureUpdateKey]:
    """Of a feature named twice, Kafka looks at what is said first."""
    return {update.feature: update for update in reversed(list(updates))}.values()


def _upgrade_type(version: int, update: FeatureUpdateKey) -> _UpgradeType:
    if version == 0:
        return _UpgradeType.SAFE_DOWNGRADE if update.allow_downgrade else _UpgradeType.UPGRADE
    known = update.upgrade_type in _UpgradeType.__members__.values()
    return _UpgradeType(update.upgrade_type) if known else _UpgradeType.UNKNOWN


def _refusal(update: FeatureUpdateKey, kind: _UpgradeType) -> str:
    level = update.max_version_level
    if not update.feature:
        return "Feature name can not be empty."
    if kind is _UpgradeType.UNKNOWN:
        return "Received unknown upgrade type."
    if level < 1 and kind is not _UpgradeType.UPGRADE:
        return "Can not delete non-existing finalized feature."
    if level < 1:
        return (
            f"Can not provide versionLevel: {level} less than 1 without setting the SAFE"
            " downgradeType in the request."
        )
    return "Could not apply finalized feature update because the provided feature is not supported."
