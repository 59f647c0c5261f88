"""Learn what the default matcher needs: a change of its backbone, and how its sides are weighed.

    python scripts/train_default.py learn DATA OUT [--sets acl wiki papers legal peps] [--without legal] [--each]
    python scripts/train_default.py features DATA OUT [--sets ...] [--splits train validation] [--queries 400]
    python scripts/train_default.py weigh OUT [OUT...] [--sides words phrases meaning title told named]
    python scripts/train_default.py tell OUT [--sides ...]
    python scripts/train_default.py calibrate OUT
    python scripts/train_default.py ship OUT

DATA holds the sets' folders. `learn` writes OUT/change.safetensors (the low-rank change) and
OUT/background.safetensors (vectors of unrelated sentences of DATA/pretrain by the changed backbone). It reads training
labels alone, and no document that stands in none of them. `features` writes OUT/SET-SPLIT.npz, for each query the sides
of its best documents, and OUT/SET-SPLIT-pairs.npz, those of labelled and of unrelated pairs. `weigh` learns from the
training queries how the sides are weighed and prints nDCG@10 on the validation queries, of each set with the others
alone too: with what was learnt without it (`--each` writes that to OUT/without-SET), that is the honest figure for a
collection nobody has seen. What the sides named with `--sides` weigh is written to OUT/weights.json. `tell` prints
nDCG@10 on the test queries, which nothing was chosen by: of single sides, of these weights, and with each set left out
of all learning. `calibrate` makes the weighed sum a score: it measures what unrelated documents have on each side, fits
slope and bias on the training pairs of the sets that have pairs and writes OUT/calibration.json. From the same pairs it
learns how likely it is that two documents belong together, writes OUT/probability.json and prints the calibration error
of both on all pairs there are, and that of the probability with each set left out. `ship` copies what was learnt into
the package.
"""

import argparse
import json
import multiprocessing
import os
import queue
import shutil
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from functools import cache, partial
from itertools import islice
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from make_background import SENTENCE_DOCUMENTS, sentence_vectors
from rich.console import Console
from rich.table import Table
from safetensors.torch import save_file
from tokenizers import Tokenizer

from longmatch.default.calibration import Calibration, Scale
from longmatch.default.collection import Rarity
from longmatch.default.encoding import Encoding
from longmatch.default.matcher import HybridMatcher
from longmatch.default.probability import Probability
from longmatch.default.statistics import (
    CALIBRATION,
    CHANGE,
    CHANGED,
    FOLDER,
    PROBABILITY,
    read_background,
    shipped_statistics,
)
from longmatch.documents.jsonl import iterate_jsonl
from longmatch.encoders.backbone import Backbone
from longmatch.encoders.low_rank import save_change
from longmatch.errors import LongmatchError
from longmatch.lab.adapting.learning.batches import Drawn, Shape, batches
from longmatch.lab.adapting.learning.learn import Pace, learn
from longmatch.lab.adapting.learning.material import Material, both_ways, bounds
from longmatch.lab.datasets.collection import DataFolder
from longmatch.lab.default.calibrating import PairSides, calibrated, error_of_all, pair_sides, probability_of, told
from longmatch.lab.default.side_scorer import SIDES, SideScorer
from longmatch.lab.default.weighing import FLOORS, Lists, fit, lists_of, worth, worth_of_each
from longmatch.lab.evaluation.corpus import Corpus
from longmatch.lab.evaluation.encodings.layers import WordLayer, restore_stream
from longmatch.lab.evaluation.measures.answers import Floats
from longmatch.lab.evaluation.scoring.scorer import no_sentences
from longmatch.lab.evaluation.significance import compare_queries
from longmatch.lab.store.files import StoredLayer
from longmatch.lab.store.store import LayerStore
from longmatch.lab.store.tokens import TokenLayer
from longmatch.lexical.terms import Terms
from longmatch.lexical.weights import TermMatrix, tfidf
from longmatch.matching.levels import SentenceVectors
from longmatch.matching.sentence_vectors import TITLE
from longmatch.parallel import half_the_cores, use_processes

SETS = ("acl", "wiki", "papers", "legal", "peps")
MOST = 12_000_000  # bytes of safetensors that ship
ONE_FORK = threading.Lock()  # libraries that lock files refuse to be forked by two threads at once
WEIGHTS = "weights.json"
ALONE = tuple((side,) for side in SIDES)
THREE = ("words", "phrases", "meaning")
WEIGHED = (*THREE, "title", "told", "named")
GROWING = (THREE[:2], THREE, (*THREE, "named"), (*THREE, "title", "named"), (*THREE, "told", "named"), WEIGHED)
LESS = tuple(tuple(side for side in WEIGHED if side != left_out) for left_out in THREE)
TRIED = (*ALONE, *GROWING, *LESS, SIDES)


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name in ("learn", "features"):
        verb = verbs.add_parser(name)
        verb.add_argument("data", type=Path)
        verb.add_argument("out", type=Path)
        verb.add_argument("--sets", nargs="+", default=list(SETS))
        verb.add_argument("--layers", type=Path, default=None, help="where tokens and vectors are kept")
    verbs.choices["learn"].add_argument("--without", nargs="+", default=[])
    verbs.choices["learn"].add_argument("--each", action="store_true", help="without each set too: OUT/without-SET")
    verbs.choices["learn"].add_argument("--jobs", type=int, default=1, help="how many of these at a time")
    verbs.choices["learn"].add_argument("--seed", type=int, default=1)
    for kind in (Pace(), Shape()):
        for name, value in vars(kind).items():
            verbs.choices["learn"].add_argument(f"--{name.replace('_', '-')}", type=type(value), default=value)
    verbs.choices["features"].add_argument("--splits", nargs="+", default=["train", "validation"])
    verbs.choices["features"].add_argument("--queries", type=int, default=None, help="of the training split at most")
    verbs.choices["features"].add_argument("--sources", type=int, default=None, help="of the pairs of a split at most")
    verbs.add_parser("calibrate").add_argument("out", type=Path)
    verbs.add_parser("weigh").add_argument("out", type=Path, nargs="+")
    verbs.add_parser("tell").add_argument("out", type=Path)
    for name in ("weigh", "tell"):
        verbs.choices[name].add_argument("--sides", nargs="+", choices=SIDES, default=list(WEIGHED))
    verbs.add_parser("ship").add_argument("out", type=Path)
    options = parser.parse_args()
    use_processes(half_the_cores())
    if options.verb == "weigh":
        weigh(options.out, options.sides)
    elif options.verb == "tell":
        tell(options.out, options.sides)
    elif options.verb in ("calibrate", "ship"):
        {"calibrate": calibrate, "ship": ship}[options.verb](options.out)
    else:
        work = {"learn": learn_change, "features": write_features}[options.verb]
        work(options, options.layers or options.out / "layers")


def learn_change(options: argparse.Namespace, layers: Path) -> None:
    """Learn the change on all sets and, if asked for, without each of them: every time in a process of its own."""
    names = [name for name in options.sets if name not in options.without]
    for name in names:  # here, as it is spread over processes itself
        tokens_and_words(options.data / name, layers)
    with ProcessPoolExecutor(len(names), multiprocessing.get_context("fork")) as pool:
        found = pool.map(partial(material_of, layers=layers), [options.data / name for name in names])
        collections = dict(zip(names, found, strict=True))
    wanted = [None, *names] if options.each else [None]
    kept = [[material for key, material in collections.items() if key != name] for name in wanted]
    fork_each(options.jobs, [partial(learn_without, options, *of) for of in zip(kept, wanted, strict=True)])


def fork_each(most: int, jobs: Sequence[Callable[[], None]]) -> None:
    """Do each in a process that has what this one has read, so many at a time."""
    fork = multiprocessing.get_context("fork").Process
    with ThreadPoolExecutor(most) as threads:
        for code in threads.map(lambda job: run_to_its_end(fork(target=do_and_leave, args=(job,))), jobs):
            if code:
                raise SystemExit(code)


def do_and_leave(job: Callable[[], None]) -> None:
    """Leave at once afterwards: the thread that draws ahead never ends by itself."""
    job()
    sys.stdout.flush()
    os._exit(0)


def run_to_its_end(process: BaseProcess) -> int | None:
    """Its exit code."""
    with ONE_FORK:
        process.start()
    process.join()
    return process.exitcode


def learn_without(options: argparse.Namespace, collections: Sequence[Material], left_out: str | None) -> None:
    """Learn the change from some collections, and the vectors of unrelated sentences that go with it."""
    out = options.out / f"without-{left_out}" if left_out else options.out
    shape = Shape(**{name: getattr(options, name) for name in vars(Shape())})
    pace = Pace(**{name: getattr(options, name) for name in vars(Pace())})
    torch.manual_seed(options.seed)
    backbone = Backbone.load(precision="float32")
    drawn = ahead(batches(collections, shape, (backbone.first_token, backbone.last_token), options.seed))
    losses: list[float] = []

    def told(step: int, loss: float) -> None:
        losses.append(loss)
        if step % 20 == 19:
            print(f"{out.name}, step {step + 1}: loss {np.mean(losses[-20:]):.4f}", flush=True)

    weights = learn(backbone.model, drawn, pace, told)
    out.mkdir(parents=True, exist_ok=True)
    save_change(backbone.model, out / CHANGE)
    print({name: value.tolist() for name, value in weights.named_parameters()})
    changed = changed_backbone(out)
    documents = list(islice(iterate_jsonl(DataFolder(options.data / "pretrain").documents_file), SENTENCE_DOCUMENTS))
    vectors = sentence_vectors(documents, changed, np.random.default_rng(0))
    save_file({"vectors": torch.from_numpy(vectors).half()}, out / CHANGED)


def ahead(drawn: Iterable[Drawn], most: int = 8) -> Iterator[Drawn]:
    """The same, drawn by a thread while the last one is learnt from."""
    waiting: queue.Queue[Drawn | Exception] = queue.Queue(most)

    def fill() -> None:
        try:
            for batch in drawn:
                waiting.put(batch)
        except Exception as error:
            waiting.put(error)

    threading.Thread(target=fill, daemon=True).start()
    while True:
        batch = waiting.get()
        if isinstance(batch, Exception):
            raise batch
        yield batch


def changed_backbone(folder: Path) -> Backbone:
    """The packaged backbone with the change of that folder, or as it is where there is none."""
    change = folder / CHANGE
    return Backbone.load(change=change if change.is_file() else None)


def matcher_of(folder: Path) -> HybridMatcher:
    """The default matcher with what that folder holds of change, background and calibration."""
    backbone, statistics = changed_backbone(folder), shipped_statistics()
    if (folder / CHANGED).is_file():
        statistics = replace(statistics, sentences=read_background(folder / CHANGED))
    if (folder / CALIBRATION).is_file():
        statistics = replace(statistics, calibration=Calibration.read(folder / CALIBRATION))
    if (folder / PROBABILITY).is_file():
        statistics = replace(statistics, probability=Probability.read(folder / PROBABILITY))
    return HybridMatcher(backbone, statistics)


def scorer_of(matcher: HybridMatcher, corpus: Corpus, layers: Path) -> SideScorer:
    """All sides over a set."""
    scorer = SideScorer(matcher)
    scorer.open(LayerStore.of(layers, corpus.source).build(scorer.layers), corpus)
    return scorer


def tokens_and_words(path: Path, layers: Path) -> tuple[Corpus, StoredLayer, StoredLayer]:
    """A set's documents as tokens and as words, made where they are not there yet."""
    corpus = Corpus(DataFolder(path))
    tokens, words = LayerStore.of(layers, corpus.source).build([TokenLayer(tokenizer_of_backbone()), WordLayer()])
    return corpus, tokens, words


@cache
def tokenizer_of_backbone() -> Tokenizer:
    """On the CPU: a GPU cannot be handed on to a fork."""
    return Backbone.load(device="cpu", precision="float32").tokenizer


def material_of(path: Path, layers: Path) -> Material:
    """What a set's training labels name, as arrays: documents of other splits are left out."""
    corpus, tokens, words = tokens_and_words(path, layers)
    pairs = [(pair.source, pair.target) for pair in corpus.folder.pairs("train") if pair.label]
    pairs += [(row.query, row.document) for row in corpus.folder.judgements("train") if row.grade]
    named = {pair.source for pair in corpus.folder.pairs("train")} | {id for pair in pairs for id in pair}
    named |= {pair.target for pair in corpus.folder.pairs("train")}
    unhandled = tokens.unhandled | words.unhandled
    kept = [number for number, id in enumerate(corpus.ids) if id in named and number not in unhandled]
    place = {corpus.ids[number]: row for row, number in enumerate(kept)}
    found = [tokens.document(number, "ids", "sentences") for number in kept]
    streams = [restore_stream(words.document(number, "words", "bounds")) for number in kept]
    terms = [Terms(stream) for stream in streams]
    titles, nothing = [corpus.titles[number] for number in kept], SentenceVectors(torch.empty(0), torch.empty(0))
    encodings = [Encoding(no_sentences(title), nothing, one) for title, one in zip(titles, terms, strict=True)]
    rarity = Rarity.of(encodings, shipped_statistics())
    read = tokenizer_of_backbone().encode_batch([title[:TITLE] for title in titles], add_special_tokens=False)
    material = Material(
        corpus.name,
        np.concatenate([arrays["ids"] for arrays in found]).astype(np.int32),
        bounds(np.concatenate([arrays["sentences"][:, 0] for arrays in found])),
        bounds(np.array([len(arrays["sentences"]) for arrays in found])),
        TermMatrix.of([tfidf(one.words.counts, rarity.words) for one in terms]).matrix.tocsr(),
        TermMatrix.of([tfidf(one.phrases.counts, rarity.phrases) for one in terms]).matrix.tocsr(),
        both_ways([(place[a], place[b]) for a, b in pairs if a in place and b in place and a != b]),
        np.concatenate([one.ids for one in read]).astype(np.int32),
        bounds([len(one.ids) for one in read]),
        rarity.trust[1],
    )
    if material.has_telling_titles:
        _ = material.rare_tokens  # made here, not by each of those that learn
    said = f"{len(material)} documents, {len(material.negatives)} to be asked for, trust in titles {material.trust:.2f}"
    print(f"{material.name}: {said}", flush=True)
    return material


def write_features(options: argparse.Namespace, layers: Path) -> None:
    """The sides of each query's best documents, and of pairs."""
    matcher = matcher_of(options.out)
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.sets:
        corpus = Corpus(DataFolder(options.data / name))
        scorer = scorer_of(matcher, corpus, layers)
        for split in options.splits:
            if corpus.folder.judgements(split):
                lists = lists_of(corpus, scorer, split, options.queries if split == "train" else None)
                lists.write(options.out / f"{name}-{split}.npz")
                print(f"{name} {split}: {len(lists)} queries", flush=True)
            if corpus.folder.pairs(split):
                pairs = pair_sides(corpus, scorer, split, options.sources)
                pairs.write(options.out / f"{name}-{split}-pairs.npz")
                print(f"{name} {split}: {len(pairs.labels)} pairs", flush=True)


def weigh(folders: Sequence[Path], chosen: Sequence[str]) -> None:
    """nDCG@10 on the validation queries for each choice of sides, learnt on all sets and on all others."""
    for folder in folders:
        names = sets_in(folder)
        lists = {(name, s): Lists.read(folder / f"{name}-{s}.npz") for name in names for s in ("train", "validation")}
        table = Table("learnt on", "sides", *names, "mean", "weights", title=str(folder))
        for sides in TRIED:
            columns = [SIDES.index(side) for side in sides]
            weights = fit([lists[name, "train"] for name in names], columns)
            values = [worth(lists[name, "validation"], columns, weights) for name in names]
            told = " ".join(f"{weight:.2f}" for weight in weights)
            table.add_row("all", " ".join(sides), *_percent(values), told)
            if len(sides) > 1 and len(names) > 1:
                values = [_held_out(name, lists, names, columns) for name in names]
                table.add_row("the others", " ".join(sides), *_percent(values), "")
        Console(width=150).print(table)
        learnt = fit([lists[name, "train"] for name in names], [SIDES.index(side) for side in chosen])
        each = dict.fromkeys(SIDES, 0.0) | dict(zip(chosen, learnt.astype(np.float64).round(4).tolist(), strict=True))
        facts = {side: {"weight": weight, "floor": FLOORS[side]} for side, weight in each.items()}
        (folder / WEIGHTS).write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def tell(folder: Path, sides: Sequence[str]) -> None:
    """nDCG@10 on the test queries; the p of a randomisation test over queries against words alone."""
    table = Table("", "sides", *(names := sets_in(folder)), "mean", "above words", title=f"{folder}, test queries")
    columns, words = [SIDES.index(side) for side in sides], each_of(folder, names, "words")
    for side in THREE:
        table.add_row("one side", side, *told_against(each_of(folder, names, side), words))
    learnt = fit([Lists.read(folder / f"{name}-train.npz") for name in names], columns)
    lists = [Lists.read(folder / f"{name}-test.npz") for name in names]
    table.add_row("learnt on all", " ".join(sides), *told_against(known_worth(lists, columns, learnt), words))
    left_out = []
    for name in names:
        apart = folder / f"without-{name}"
        apart = apart if apart.is_dir() else folder  # no change was learnt: its sides are those of all
        weights = fit([Lists.read(apart / f"{other}-train.npz") for other in names if other != name], columns)
        left_out += known_worth([Lists.read(apart / f"{name}-test.npz")], columns, weights)
    table.add_row("learnt on the others", " ".join(sides), *told_against(left_out, words))
    Console(width=150).print(table)


def sets_in(folder: Path) -> list[str]:
    """The sets whose training lists are there."""
    return sorted({path.name.rpartition("-")[0] for path in folder.glob("*-train.npz")})


def each_of(folder: Path, names: Sequence[str], side: str) -> list[Floats]:
    """nDCG@10 of every test query by one side."""
    lists = [Lists.read(folder / f"{name}-test.npz") for name in names]
    return known_worth(lists, [SIDES.index(side)], np.ones(1, dtype=np.float32))


def known_worth(sets: Sequence[Lists], columns: Sequence[int], weights: npt.NDArray[np.float32]) -> list[Floats]:
    """nDCG@10 of every query of some sets."""
    return [worth_of_each(lists, columns, weights) for lists in sets]


def told_against(mine: Sequence[Floats], words: Sequence[Floats]) -> list[str]:
    """The mean of each set, with the p of its difference; of all; and how much that is above, set by set."""
    means = [float(np.mean(each)) for each in mine]
    above = np.mean([value / float(np.mean(each)) - 1 for value, each in zip(means, words, strict=True)])
    values = [
        f"{100 * value:.1f} ({compare_queries(a, b).p:.4f})" for value, a, b in zip(means, mine, words, strict=True)
    ]
    return [*values, f"{100 * float(np.mean(means)):.1f}", f"{100 * float(above):+.1f} %"]


def calibrate(folder: Path) -> None:
    """Score and probability from the training pairs; calibration errors on the others too, which they never saw."""
    facts = json.loads((folder / WEIGHTS).read_text(encoding="utf-8"))
    weights = {side: Scale(**scale, chance=0.0) for side, scale in facts.items()}
    found = {path.name.removesuffix("-pairs.npz"): PairSides.read(path) for path in sorted(folder.glob("*-pairs.npz"))}
    learnt = {name.removesuffix("-train"): pairs for name, pairs in found.items() if name.endswith("-train")}
    made, likely = calibrated(list(learnt.values()), weights), probability_of(list(learnt.values()))
    made.write(folder / CALIBRATION)
    likely.write(folder / PROBABILITY)
    rest = {name: [pairs for other, pairs in learnt.items() if other != name] for name in learnt}
    without = {name: probability_of(others) for name, others in rest.items() if others}
    scores = {name: made.score({side: pairs.labelled[side] for side in made.sides}) for name, pairs in found.items()}
    said = {name: told(likely, pairs.labelled) for name, pairs in found.items()}
    unseen = {name: told(without.get(name.rpartition("-")[0], likely), p.labelled) for name, p in found.items()}
    columns = ("score", "probability", "set left out", "told of unrelated pairs")
    table = Table("set, split", "pairs", "belong together", *columns, title="calibration errors")
    for split in sorted({name.rpartition("-")[2] for name in found}):
        names = [name for name in found if name.endswith(f"-{split}")]
        for name, each in [*((name, [name]) for name in names), (f"all, {split}", names)]:
            labels = [found[one].labels for one in each]
            errors = (error_of_all(labels, [by[one] for one in each]) for by in (scores, said, unseen))
            unrelated = np.mean([told(likely, found[one].unrelated).mean() for one in each])
            shown = (np.mean([one.mean() for one in labels]), *errors, unrelated)
            table.add_row(name, str(sum(map(len, labels))), *(f"{value:.3f}" for value in shown))
    Console(width=120).print(table)
    for name in (CALIBRATION, PROBABILITY):
        print((folder / name).read_text(encoding="utf-8"))


def ship(folder: Path) -> None:
    """Put what was learnt into the package, where it is small enough."""
    names = [name for name in (CHANGE, CHANGED, CALIBRATION, PROBABILITY) if (folder / name).is_file()]
    kept = {path.name: path for path in FOLDER.glob("*.safetensors")} | {name: folder / name for name in names}
    size = sum(path.stat().st_size for path in kept.values())
    if size > MOST:
        raise LongmatchError(f"What would ship has {size:,} bytes; {MOST:,} is the most.")
    for name in names:
        shutil.copyfile(folder / name, FOLDER / name)
        (FOLDER / name).chmod(0o644)
        print(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")
    print(f"in all: {size:,} bytes")


def _held_out(name: str, lists: Mapping[tuple[str, str], Lists], names: Sequence[str], columns: list[int]) -> float:
    weights = fit([lists[other, "train"] for other in names if other != name], columns)
    return worth(lists[name, "validation"], columns, weights)


def _percent(values: Sequence[float]) -> list[str]:
    return [f"{100 * value:.1f}" for value in [*values, float(np.mean(values))]]


if __name__ == "__main__":
    main()
