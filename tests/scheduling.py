"""Which tests a process of the test run takes together, and in which order: what takes long is begun first."""

from typing import Any

from xdist.scheduler import LoadScopeScheduling

TOGETHER = ("tests/distributed",)
"""Folders whose files share what takes long to make."""

FIRST = (
    "tests/distributed",
    "tests/default/test_compare.py",  # reads the example collection, which others then need not
    "tests/cli/test_on_ray.py",
    "tests/lab/training/test_processes.py",
    "tests/lab/training/test_killed.py",
    "tests/library/test_killed.py",
    "tests/docs/test_notebooks.py",
    "tests/lab/papers",
    "tests/lab/baselines",
    "tests/encoders/test_engines.py",
    "tests/web/page",
)
"""Measured with `pytest --durations=50`. The rest is taken as it comes."""


def scope(nodeid: str) -> str:
    """The file, or the folder, that a test is taken with."""
    file = nodeid.split("::", 1)[0]
    return next((folder for folder in TOGETHER if file.startswith(f"{folder}/")), file)


def turn(nodeid: str) -> int:
    """Of the part of the suite a test belongs to."""
    return next((n for n, part in enumerate(FIRST) if nodeid.startswith(part)), len(FIRST))


class LongestFirst(LoadScopeScheduling):
    """`--dist loadfile` with these two rules."""

    def __init__(self, config: Any, log: Any) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        return scope(nodeid)


SLOW = (
    "tests/cli/test_on_ray.py::test_a_cluster_started_for_the_run",
    "tests/cli/test_read.py::test_a_file_of_one_line_of_5_mb",
    "tests/distributed/test_indexing.py::test_a_worker_dies",
    "tests/distributed/test_indexing.py::test_changed_and_vanished",
    "tests/distributed/test_cluster.py",
    "tests/docs/test_blocks.py::test_what_a_page_shows_runs_in_order[docs/guides/languages.md",
    "tests/docs/test_notebooks.py::test_a_folder_is_explored",
    "tests/docs/test_notebooks.py::test_colde_is_trained",
    "tests/docs/test_site.py",
    "tests/documents/test_html.py::test_a_page_of_unclosed_elements_nested_very_deep",
    "tests/documents/test_text.py::test_five_megabytes_of_prose",
    "tests/lab/baselines/cig/test_training.py::test_training_lifts",
    "tests/lab/baselines/cross/test_training.py::test_training_lifts",
    "tests/lab/baselines/pooled/test_mean_training.py::test_training_lifts",
    "tests/lab/baselines/pooled/test_training.py::test_training_lifts",
    "tests/lab/baselines/siamese/test_training.py::test_training_lifts",
    "tests/lab/baselines/test_pair_training.py::test_training_lifts",
    "tests/benchmarks/papers/test_gpu.py",
    "tests/lab/datasets/builders/test_wiki_dump.py::test_a_50_megabyte_dump",
    "tests/lab/evaluation/test_evaluate.py::test_a_killed_evaluation",
    "tests/lab/papers/colde/test_training.py::test_validation_rises_far_above",
    "tests/lab/papers/smith/test_pretraining.py::test_hidden_blocks_are_picked",
    "tests/lab/papers/smith/test_training.py::test_average_precision_rises_far_above",
    "tests/lab/papers/sst/test_training.py::test_training_on_views_lifts",
    "tests/lab/store/test_store.py::test_a_killed_build",
    "tests/lab/training/test_killed.py",
    "tests/lab/training/test_processes.py",
    "tests/library/test_killed.py",
    "tests/library/test_soak.py",
    "tests/render/test_html.py::test_one_paragraph_of_20_000",
    "tests/safety/test_safety.py",
    "tests/test_core.py::test_the_model_is_fetched_once",
    "tests/web/page/test_page_long_browser.py",
    "tests/web/page/test_page_map_browser.py",
    "tests/web/test_rankers.py::test_one_ends_with_its_input",
    "tests/web/test_rankers.py::test_they_end_with_the_server",
    "tests/web/test_uploads.py::test_a_scan_of_ten_pages",
)
"""Kill tests at length, flipped bits, full disks, soak, several machines, very long documents, a scan of ten pages, the
map in a browser, notebooks, the site, a guide that needs another model, how far training lifts one: `make test-slow`
runs them."""


FUZZED = ("tests/fuzz/test_fuzz.py::test_a_damaged_file", "tests/web/test_fuzz.py::test_whatever_is_sent")
"""As properties: `make test` tries a few examples, `make test-slow` many."""


def is_slow(nodeid: str) -> bool:
    """Whether `make test` leaves a test to `make test-slow`."""
    return nodeid.startswith(SLOW)
