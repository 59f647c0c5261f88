"""The network where torch_geometric is missing, for a process of its own."""

import sys


def make_network() -> None:
    """Prints what a model asks for."""
    import longmatch
    from longmatch.lab.papers.sst import network

    assert "torch_geometric" not in sys.modules
    sys.modules["torch_geometric.nn"] = sys.modules["torch_geometric"] = None  # type: ignore[assignment]
    try:
        network.ClusterModel(network.ClusterConfig())
    except longmatch.errors.LongmatchError as error:
        print(error)
