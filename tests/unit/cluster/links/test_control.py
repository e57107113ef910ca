from __future__ import annotations

from pathlib import Path

import pytest

from logquake.cluster.errors import ClusterError
from logquake.cluster.links.control import LinkControl


@pytest.mark.parametrize("folder", ["here", "not/there"])
def test_a_cluster_without_links_says_how_to_have_them(tmp_path: Path, folder: str) -> None:
    (tmp_path / "here").mkdir()
    with pytest.raises(ClusterError, match="no links here: start the cluster with up --links"):
        LinkControl(tmp_path / folder / "links.sock").held()
