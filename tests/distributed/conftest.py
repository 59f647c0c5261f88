"""A Ray cluster of two machines on this one, and a tiny model its workers can make."""

import os
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from longmatch.default.matcher import HybridMatcher
from tests.library.tiny import tiny_matcher

SOON_DEAD = {"health_check_initial_delay_ms": 1000, "health_check_period_ms": 500}
"""A machine that is gone is known to be within seconds; one that is only slow has as long to answer as ever."""

os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")


@pytest.fixture(scope="package")
def cluster() -> Iterator[Any]:
    """Two machines of one processor each; the test's own process has none."""
    import ray
    from ray.cluster_utils import Cluster

    room = {"object_store_memory": 100_000_000, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "_system_config": SOON_DEAD, **room})
    try:
        for _ in range(2):
            made.add_node(num_cpus=1, object_store_memory=100_000_000)
        ray.init(made.address, log_to_driver=False, logging_level="ERROR")
        yield made
    finally:
        ray.shutdown()
        made.shutdown()


@pytest.fixture(scope="session")
def make(tiny_bert: Path) -> Callable[[], HybridMatcher]:
    return partial(tiny_matcher, tiny_bert)


@pytest.fixture(scope="session")
def matcher(make: Callable[[], HybridMatcher]) -> HybridMatcher:
    """The same model in the test's own process."""
    return make()
