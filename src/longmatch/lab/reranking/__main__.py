"""Whether a second look at the default's best documents improves their order.

    python -m longmatch.lab.reranking lists DATA OUT [--sets acl ...] [--splits train validation test]
    python -m longmatch.lab.reranking score DATA OUT --model LABEL=FOLDER [--sets acl ...] [--depth 40]
    python -m longmatch.lab.reranking network DATA OUT --label LABEL --train-on acl papers ... [--test-on wiki ...]
    python -m longmatch.lab.reranking study OUT [--depths 20 40 100] [--split validation] [--weights 0.2]

`lists` writes the best documents of the default for each query, with all its evidence, to OUT/SET-SPLIT.npz; encodings
are kept in OUT/layers. `score` has the test lists read by a trained pair model, `network` trains a network on the lists
of some sets and has it read the test lists of others (`--read`: those of other splits too, to choose between networks);
both write to OUT/scores/LABEL/SET-SPLIT.npy. `study` prints what each gains.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from longmatch.encoders.backbone import Backbone
from longmatch.errors import LongmatchError
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.datasets.records import SPLITS
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import SentenceVectorLayer
from longmatch.lab.matchers import TokenPairMatcher
from longmatch.lab.reranking.candidates import MOST, CandidateLists
from longmatch.lab.reranking.listing import find_lists
from longmatch.lab.reranking.network import NetworkSettings, NetworkTraining, SetLists
from longmatch.lab.reranking.pair_scores import pair_scores
from longmatch.lab.reranking.study import ADDED, DEPTHS, study, table
from longmatch.lab.reranking.texts import CandidateTexts
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from longmatch.lab.training.settings import fill, read_pairs
from longmatch.models.loading import load
from longmatch.parallel import half_the_cores

SETS = ("acl", "legal", "papers", "peps", "wiki")


def make_lists(options: argparse.Namespace) -> None:
    """The lists of each set and split."""
    limits = {split: None if split == "test" else options.queries for split in options.splits}
    for name in options.sets:
        for split, lists in find_lists(options.data / name, options.out / "layers", limits, options.processes):
            lists.write(options.out / f"{name}-{split}.npz")
            print(f"{name} {split}: {len(lists)} queries", flush=True)


def score(options: argparse.Namespace) -> None:
    """The test lists by trained models."""
    for place in options.model:
        label, _, folder = place.partition("=")
        matcher = load(folder)
        if not isinstance(matcher, TokenPairMatcher):
            raise LongmatchError(f"{folder} is no model that reads the tokens of two documents together.")
        for name in options.sets:
            corpus = Corpus(DataFolder(options.data / name))
            (tokens,) = _store(options, corpus).build([TokenLayer(matcher.tokenizer.backend_tokenizer)])
            for split in options.read:
                lists = CandidateLists.read(options.out / f"{name}-{split}.npz")
                _write(options.out, label, f"{name}-{split}", pair_scores(matcher, lists, tokens, options.depth))


def train_network(options: argparse.Namespace) -> None:
    """A network trained on the lists of some sets and tested on those of others."""
    import torch
    from safetensors.torch import save_file

    from longmatch.encoders.pretrained import DEFAULT_NAME, locate
    from longmatch.lab.baselines.cross.encoder import CrossModel
    from longmatch.lab.encoders.tokenizer import open_tokenizer, special_tokens

    (settings,) = fill(read_pairs(options.settings), [NetworkSettings])
    torch.manual_seed(settings.seed)
    backbone = Backbone.load()
    cross = CrossModel.from_backbone(readout="fresh")
    specials = special_tokens(open_tokenizer(locate(None)), DEFAULT_NAME)

    def sets(names: Sequence[str], split: str) -> dict[str, SetLists]:
        return {name: _set_lists(options, name, split, backbone) for name in names}

    training = NetworkTraining(cross, specials, sets(options.train_on, "train"), settings)
    reached = training.run(sets(options.train_on, "validation"))
    print(f"{options.label}: nDCG@10 on validation queries {[round(100 * each, 2) for each in reached]}", flush=True)
    halved = {name: weight.half() for name, weight in training.model.state_dict().items()}
    (options.out / "networks").mkdir(parents=True, exist_ok=True)
    save_file(halved, options.out / "networks" / f"{options.label}.safetensors")
    for split in options.read:
        for name, of in sets(options.test_on or options.train_on, split).items():
            added, candidates = np.full(len(of.lists.documents), -np.inf), of.candidates[:, : options.depth]
            listed = candidates >= 0
            added[candidates[listed]] = training.added(of, options.depth)[listed]
            label = f"{ADDED if settings.with_default else ''}{options.label}"
            _write(options.out, label, f"{name}-{split}", added)


def _set_lists(options: argparse.Namespace, name: str, split: str, backbone: Backbone) -> SetLists:
    corpus = Corpus(DataFolder(options.data / name))
    tokens, sentences = _store(options, corpus).build([TokenLayer(backbone.tokenizer), SentenceVectorLayer(backbone)])
    return SetLists.of(CandidateLists.read(options.out / f"{name}-{split}.npz"), CandidateTexts(tokens, sentences))


def print_study(options: argparse.Namespace) -> None:
    """A table for each depth."""
    for depth in options.depths:
        print(table(study(options.out, depth, options.split, options.weights), depth), flush=True)


def _store(options: argparse.Namespace, corpus: Corpus) -> LayerStore:
    return LayerStore.of(options.out / "layers", corpus.source, options.processes)


def _write(out: Path, label: str, name: str, scores: np.ndarray) -> None:
    place = out / "scores" / label
    place.mkdir(parents=True, exist_ok=True)
    np.save(place / f"{name}.npy", scores.astype(np.float32))
    print(f"{label}: {name}", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one of the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    steps = parser.add_subparsers(required=True)
    for name, run in (("lists", make_lists), ("score", score), ("network", train_network), ("study", print_study)):
        step = steps.add_parser(name)
        step.set_defaults(run=run)
        if run is not print_study:
            step.add_argument("data", type=Path)
            step.add_argument("--processes", type=int, default=half_the_cores())
        step.add_argument("out", type=Path)
        if run in (make_lists, score):
            step.add_argument("--sets", nargs="+", default=list(SETS))
    lists, scores, network, tables = (steps.choices[name] for name in ("lists", "score", "network", "study"))
    lists.add_argument("--splits", nargs="+", choices=SPLITS, default=list(SPLITS))
    lists.add_argument("--queries", type=int, default=1000, help="of a training or validation split, at most")
    scores.add_argument("--model", action="append", required=True, metavar="LABEL=FOLDER")
    for step in (scores, network):
        step.add_argument("--depth", type=int, default=MOST, help="documents of each query that it reads")
        step.add_argument("--read", nargs="+", choices=SPLITS, default=["test"], help="splits whose lists it reads")
    network.add_argument("--label", required=True)
    network.add_argument("--train-on", nargs="+", required=True)
    network.add_argument("--test-on", nargs="+", help="by default the sets it was trained on")
    network.add_argument("--set", dest="settings", action="append", default=[], metavar="KEY=VALUE")
    tables.add_argument("--depths", nargs="+", type=int, default=list(DEPTHS))
    tables.add_argument("--split", choices=SPLITS, default="test", help="whose queries are compared")
    tables.add_argument(
        "--weights", nargs="+", type=float, default=[], help="of what a network adds to the default's score; 1 apart"
    )
    options = parser.parse_args(arguments)
    options.run(options)


if __name__ == "__main__":
    main()
