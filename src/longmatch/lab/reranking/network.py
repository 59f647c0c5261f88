"""A network that reads query and candidate together and adds to the default's score; it starts by adding 0.

    score = default + w [text; evidence],    w = 0 at first

where `text` is a cross-encoder's vector of both texts and `evidence` what a regression sees; either evidence or the
default's score may be left out. It learns by the listwise loss from the training queries of some sets, each counting
alike. Documents are ordered by the mean of their ranks by this score and by the default. The step with the best nDCG@10
on the sets' validation queries is kept, and step 0, the default's own order, is one of them.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from longmatch.lab.baselines.cross.batch import CrossBatch
from longmatch.lab.baselines.cross.encoder import CrossModel
from longmatch.lab.baselines.cross.scoring import read
from longmatch.lab.evaluation.encodings.layers import scoring_device
from longmatch.lab.evaluation.measures.query_result import Floats, Ints
from longmatch.lab.losses.listwise import listwise_loss
from longmatch.lab.reranking.candidates import MOST, CandidateLists
from longmatch.lab.reranking.rerankers import BestDocuments, averaged_ranks
from longmatch.lab.reranking.texts import CandidateTexts

ROWS = 256  # pairs read at a time when nothing is learnt


@dataclass(frozen=True)
class NetworkSettings:
    """How a network learns."""

    steps: int = 800
    queries: int = 16  # of a step
    answers: int = 3  # of a query, at most
    documents: int = 12  # of a query, answers included
    depth: int = 40  # that documents are drawn from, and that is reranked in validation
    learning_rate: float = 3e-5
    head_learning_rate: float = 1e-3
    warmup: float = 0.1
    validations: int = 4
    validation_queries: int = 40  # of a set, at most
    seed: int = 0
    with_evidence: bool = True
    with_default: bool = True  # false: its score is not the default's and more, but one of its own


class AddedScore(nn.Module):
    """What a cross-encoder's vector and the evidence of a pair add to its score."""

    def __init__(self, cross: CrossModel, kinds: int, scale: Tensor) -> None:
        super().__init__()
        self.cross = cross
        self.added = nn.Linear(cross.width + kinds, 1)
        nn.init.zeros_(self.added.weight)
        nn.init.zeros_(self.added.bias)
        self.register_buffer("scale", scale)  # of each kind of evidence

    def forward(self, batch: CrossBatch, evidence: Tensor) -> Tensor:
        """(pairs,), in full precision."""
        vectors = self.cross.dropout(read(self.cross, batch).vectors.float())
        with torch.autocast(vectors.device.type, enabled=False):
            result: Tensor = self.added(torch.cat([vectors, evidence / self.get_buffer("scale")], dim=1))[:, 0]
            return result


@dataclass(frozen=True)
class SetLists:
    """The lists of one set's split, with their texts and the evidence as a regression sees it."""

    lists: CandidateLists
    texts: CandidateTexts
    best: BestDocuments
    candidates: Ints  # that the cells of `best` are, -1 for none: (queries, depth)

    @staticmethod
    def of(lists: CandidateLists, texts: CandidateTexts) -> "SetLists":
        """All candidates of each query."""
        return SetLists(lists, texts, BestDocuments.of(lists, MOST), lists.padded(MOST))


class NetworkTraining:
    """Learns an `AddedScore` from the lists of several sets."""

    def __init__(
        self, cross: CrossModel, specials: tuple[int, int], train: Mapping[str, SetLists], settings: NetworkSettings
    ) -> None:
        self.settings, self.specials, self.train = settings, specials, train
        spread = torch.stack([each.best.evidence[each.best.listed].std(0) for each in train.values()]).mean(0)
        self.device = scoring_device()
        self.model = AddedScore(cross, len(spread), spread.clamp(min=1e-3)).to(self.device)
        self._usable = {name: np.flatnonzero(each.best.can_teach(settings.depth)) for name, each in train.items()}

    def run(self, validation: Mapping[str, SetLists]) -> list[float]:
        """Train; the weights of the best validation are kept. Gives nDCG@10 of all validations, step 0 first."""
        settings, names = self.settings, [name for name, usable in self._usable.items() if len(usable)]
        rng = np.random.default_rng(settings.seed)
        new = [
            parameter
            for name, parameter in self.model.named_parameters()
            if name.startswith(("added.", "cross.pooler."))
        ]
        known = {id(parameter) for parameter in new}
        old = [parameter for parameter in self.model.parameters() if id(parameter) not in known]
        groups = [{"params": old, "lr": settings.learning_rate}, {"params": new, "lr": settings.head_learning_rate}]
        optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
        warm = max(1, round(settings.warmup * settings.steps))
        schedule = torch.optim.lr_scheduler.LambdaLR(
            optimizer, lambda step: min((step + 1) / warm, (settings.steps - step) / max(1, settings.steps - warm))
        )
        reached = [self.validate(validation)]
        best = {name: weight.clone() for name, weight in self.model.state_dict().items()}
        every = math.ceil(settings.steps / settings.validations)
        for step in range(1, settings.steps + 1):
            self.model.train()
            loss = self._loss([names[i] for i in rng.integers(len(names), size=settings.queries)], rng)
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
            if step % every == 0 or step == settings.steps:
                reached.append(self.validate(validation))
                print(
                    f"step {step}: loss {loss.item():.3f}, nDCG@10 {100 * reached[-1]:.2f} ({100 * reached[0]:.2f})",
                    flush=True,
                )
                if reached[-1] > max(reached[:-1]):
                    best = {name: weight.clone() for name, weight in self.model.state_dict().items()}
        self.model.load_state_dict(best)
        return reached

    def _loss(self, drawn: Sequence[str], rng: np.random.Generator) -> Tensor:
        """Of one list for each set drawn."""
        rows, evidence, scores, answers = [], [], [], []
        for name in drawn:
            of = self.train[name]
            query = int(rng.choice(self._usable[name]))
            cells = self._draw(of.best.grades[query], of.best.listed[query].numpy(), rng)
            rows += of.texts.rows(of.lists, of.candidates[query, cells].tolist())
            evidence.append(of.best.evidence[query, cells])
            scores.append(of.best.scores[query, cells])
            answers.append(torch.from_numpy(of.best.grades[query, cells] > 0))
        added = self._added(rows, torch.cat(evidence))
        lists = nn.utils.rnn.pad_sequence
        listed = lists([torch.ones(len(each), dtype=torch.bool) for each in scores], batch_first=True)
        padded = torch.zeros(listed.shape, device=self.device)
        padded[listed.to(self.device)] = self.own(added, torch.cat(scores).to(self.device))
        return listwise_loss(padded, lists(answers, batch_first=True).to(self.device), listed.to(self.device))

    def own(self, added: Tensor, first: Tensor) -> Tensor:
        """The network's own scores, from what it adds and the default's."""
        return first + added if self.settings.with_default else added

    def _draw(self, grades: Ints, listed: np.ndarray, rng: np.random.Generator) -> Ints:
        """Some answers of a query and other documents, all of the first `depth`.

        Were answers drawn from further down than the others, a low score by the default would tell them apart.
        """
        depth, most = self.settings.depth, self.settings.answers
        right = rng.permutation(np.flatnonzero(grades[:depth] > 0))[:most]
        others = rng.permutation(np.flatnonzero(listed[:depth] & (grades[:depth] == 0)))
        return np.concatenate([right, others[: self.settings.documents - len(right)]])

    def _added(self, rows: Sequence[tuple[Ints, Ints]], evidence: Tensor) -> Tensor:
        batch = CrossBatch.of(rows, self.specials).to(self.device)
        evidence = evidence.to(self.device) * float(self.settings.with_evidence)
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.device.type == "cuda"):
            result: Tensor = self.model(batch, evidence)
            return result

    @torch.no_grad()
    def added(self, of: SetLists, depth: int = MOST, queries: int | None = None) -> Floats:
        """What the network adds to the first `depth` candidates, of all or some queries: (queries, depth)."""
        self.model.eval()
        wanted = np.zeros(of.candidates.shape, dtype=bool)
        wanted[:queries, :depth] = of.candidates[:queries, :depth] >= 0
        cells, found = of.candidates[wanted].tolist(), []
        evidence = of.best.evidence[torch.from_numpy(wanted)]
        for start in range(0, len(cells), ROWS):
            part = slice(start, start + ROWS)
            found.append(self._added(of.texts.rows(of.lists, cells[part]), evidence[part]).float().cpu())
        result = np.zeros(wanted.shape)
        result[wanted] = torch.cat(found).numpy()
        return result[:, :depth]

    def validate(self, validation: Mapping[str, SetLists]) -> float:
        """nDCG@10 of some validation queries of each set, every set counting alike."""
        depth, most, means = self.settings.depth, self.settings.validation_queries, []
        for of in validation.values():
            first = of.best.scores[:, :depth]
            order = averaged_ranks(self.own(torch.from_numpy(self.added(of, depth, most)).float(), first), first)
            means.append(of.best.ndcg(order)[:most].mean())
        return float(np.mean(means))
