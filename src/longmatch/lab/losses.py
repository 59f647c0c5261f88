"""Losses that several models share, as functions of embeddings and labels; those of one paper are in its folder."""

import torch
from torch import Tensor, nn


def supervised_contrastive_loss(
    vectors: Tensor, labels: Tensor, temperature: float = 0.5, normalised: bool = True
) -> Tensor:
    """Supervised contrastive loss (Khosla et al., 2020; CoLDE section 3.3), averaged over the anchors.

    For each anchor i, with positives P(i), the other rows of its label:

        L_i = -1 / |P(i)| * sum over p in P(i) of log( exp(z_i z_p / t) / sum over k != i of exp(z_i z_k / t) )

    `vectors` (rows, width) are the sections of N documents, 2N rows for two sections each. They are normalised here, as
    by Khosla et al.; CoLDE's text does not say so, and with `normalised=False` z is taken as it is.
    The paper sums over the anchors; the mean differs by a constant factor. Anchors without a positive are left out.
    `labels` is (rows,), or (rows, rows) where matching is not a matter of classes (a cites b and b cites c): true where
    two rows match.

    >>> vectors = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 1.0]])
    >>> bool(supervised_contrastive_loss(vectors, torch.tensor([0, 0, 1, 1]))
    ...      < supervised_contrastive_loss(vectors, torch.tensor([0, 1, 0, 1])))
    True
    """
    if len(vectors) < 2:
        return vectors.float().sum() * 0.0  # nothing to contrast: a loss of 0 with a gradient of 0
    z = nn.functional.normalize(vectors.float(), dim=1) if normalised else vectors.float()
    itself = torch.eye(len(z), dtype=torch.bool, device=z.device)
    similarity = (z @ z.T / temperature).masked_fill(itself, float("-inf"))
    log_probability = (similarity - similarity.logsumexp(1, keepdim=True)).masked_fill(itself, 0.0)
    positive = (labels.bool() if labels.dim() == 2 else labels[:, None] == labels) & ~itself
    counts = positive.sum(1)
    losses = -(log_probability * positive).sum(1) / counts.clamp(min=1)
    return losses.sum() / (counts > 0).sum().clamp(min=1)


def info_nce_loss(
    queries: Tensor, documents: Tensor, temperature: float = 0.05, answers: Tensor | None = None
) -> Tensor:
    """InfoNCE with in-batch negatives (van den Oord et al., 2018; SST's dual encoder), averaged over the queries.

        L_i = -log( exp(q_i d_i / t) / sum over j of exp(q_i d_j / t) )

    Row i of `documents` is the positive of row i of `queries` (queries, width); further rows are extra negatives. Rows
    are normalised. If a query has several positives in the batch, `answers` (queries, documents) marks them, and those
    other than its own are left out of its sum.

    >>> vectors = torch.eye(2)
    >>> round(info_nce_loss(vectors, vectors, temperature=1.0).item(), 4)  # ln(1 + 1/e)
    0.3133
    """
    q = nn.functional.normalize(queries.float(), dim=1)
    d = nn.functional.normalize(documents.float(), dim=1)
    positive = torch.arange(len(q), device=q.device)
    similarity = q @ d.T / temperature
    if answers is not None:
        others = answers.bool().index_put((positive, positive), torch.zeros_like(positive, dtype=torch.bool))
        similarity = similarity.masked_fill(others, float("-inf"))
    return nn.functional.cross_entropy(similarity, positive)


def cosine_loss(a: Tensor, b: Tensor, labels: Tensor) -> Tensor:
    """The squared difference of cos(a, b) and the label (1 match, 0 not), averaged over the pairs (CoLDE without CL).

    `a` and `b` are the vectors of the pairs: (pairs, width).

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> cosine_loss(a, b, torch.tensor([1, 1])).item()
    0.5
    """
    cosine = nn.functional.cosine_similarity(a.float(), b.float(), dim=1)
    return nn.functional.mse_loss(cosine, labels.float())


def pair_cross_entropy_loss(
    a: Tensor, b: Tensor, labels: Tensor, scale: float | Tensor = 10.0, middle: float | Tensor = 0.5
) -> Tensor:
    """Binary cross-entropy over pairs (MatchBERT, SMITH section 3.2.1), averaged, with the probability of a match

        p = sigmoid(scale * (cos(a, b) - middle))

    The papers do not define how a cosine becomes a probability. Here a cosine of `middle` gives 0.5, and with the
    defaults a cosine of 1 gives 0.993; both parameters may be learned. `a` and `b` are the vectors of the pairs (pairs,
    width), labels 1 or 0.

    >>> import torch
    >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[0.0, 1.0]])
    >>> round(pair_cross_entropy_loss(a, b, torch.tensor([0])).item(), 4)  # ln(1 + exp(-5))
    0.0067
    """
    cosine = nn.functional.cosine_similarity(a.float(), b.float(), dim=1)
    return nn.functional.binary_cross_entropy_with_logits(scale * (cosine - middle), labels.float())


def listwise_loss(scores: Tensor, answers: Tensor, listed: Tensor | None = None) -> Tensor:
    """The cross-entropy of each answer among the non-answers, averaged over a query's answers, then over queries.

        L_q = mean over answers a of -log( exp s_a / (exp s_a + sum over others o of exp s_o) )

    So the answers of a query do not compete with each other. `scores` and `answers` are (queries, documents); `listed`
    masks the documents in a query's list. Queries without answers are ignored.

    >>> scores, answers = torch.zeros(1, 3), torch.tensor([[True, True, False]])
    >>> round(listwise_loss(scores, answers).item(), 4)  # ln 2: one other beside each answer
    0.6931
    """
    scores, answers = scores.float(), answers.bool()
    listed = torch.ones_like(answers) if listed is None else listed.bool()
    answers = answers & listed
    others = scores.masked_fill(answers | ~listed, float("-inf")).logsumexp(1, keepdim=True)
    losses = torch.nn.functional.softplus(others - scores).masked_fill(~answers, 0.0)
    count = answers.sum(1)
    return (losses.sum(1) / count.clamp(min=1)).sum() / (count > 0).sum().clamp(min=1)
