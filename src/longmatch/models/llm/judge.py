"""Asks a language model for scores, never twice for the same, and counts what that took."""

import json
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from longmatch.cache import cache_folder, replace_file
from longmatch.errors import LongmatchError
from longmatch.models.llm.answers import parse_answer
from longmatch.models.llm.chat import Chat, ChatError, RejectedRequest

FAILURES_IN_A_ROW = 3  # after which a server counts as down


@dataclass
class Tally:
    """What was asked, and what came of it."""

    asked: int = 0  # of the model
    cached: int = 0  # known from before
    refused: int = 0
    unreadable: int = 0
    failed: int = 0  # no reply after all retries, or rejected
    prompt_tokens: int = 0
    answer_tokens: int = 0

    def __str__(self) -> str:
        """One line.

        >>> str(Tally(asked=3, cached=1, refused=1, prompt_tokens=1200, answer_tokens=30))
        '3 asked, 1 from the cache, 1 refused; 1,230 tokens (1,200 read, 30 written)'
        """
        counts = [f"{self.asked:,} asked", f"{self.cached:,} from the cache", f"{self.refused:,} refused"]
        counts += [f"{self.unreadable:,} unreadable"] * bool(self.unreadable)
        counts += [f"{self.failed:,} failed"] * bool(self.failed)
        total = self.prompt_tokens + self.answer_tokens
        counted = f"{total:,} tokens ({self.prompt_tokens:,} read, {self.answer_tokens:,} written)"
        return f"{', '.join(counts)}; {counted if total or not self.asked else 'the server counted no tokens'}"


@dataclass
class Judge:
    """A language model that gives scores; those it gave are kept in the user's cache."""

    chat: Chat
    tally: Tally = field(default_factory=Tally)
    _failures: int = 0  # in a row

    def score(self, messages: list[dict[str, str]], answer_tokens: int) -> float | None:
        """The score, from 0 to 1; None if the model refuses, says nothing usable, or does not reply."""
        request = self.chat.address.request(messages, answer_tokens)
        path = self._path(request)
        known = _recall(path)
        if known is not None:
            self.tally.cached += 1
            return known
        score = self._ask(request)
        if score is not None:
            _remember(path, score)
        return score

    def _ask(self, request: dict[str, Any]) -> float | None:
        tally = self.tally
        tally.asked += 1
        try:
            reply = self.chat.ask(request)
        except RejectedRequest:
            tally.failed += 1
            self._failures = 0
            return None
        except ChatError as problem:
            tally.failed += 1
            self._failures += 1
            if self._failures >= FAILURES_IN_A_ROW:
                raise self.down(problem) from None
            return None
        self._failures = 0
        tally.prompt_tokens += reply.prompt_tokens
        tally.answer_tokens += reply.answer_tokens
        answer = "refused" if reply.refused else parse_answer(reply.text)
        if isinstance(answer, float):
            return answer
        tally.refused += answer == "refused"
        tally.unreadable += answer == "unreadable"
        return None

    def down(self, problem: object) -> LongmatchError:
        """The error for a server that answers nothing."""
        return LongmatchError(
            f"The language model at {self.chat.address.shown} failed {self._failures} times in a row ({problem}). "
            "Start it, or check LONGMATCH_LLM_URL, and run this again: scores it gave are kept."
        )

    def _path(self, request: dict[str, Any]) -> Path:
        """The file of a score, named by address, model and prompt: it holds no text."""
        key = json.dumps([self.chat.address.url, request], sort_keys=True)
        name = sha256(key.encode()).hexdigest()
        return cache_folder() / "llm" / name[:2] / f"{name}.json"


def _recall(path: Path) -> float | None:
    with suppress(OSError, ValueError, KeyError, TypeError):
        score = json.loads(path.read_text(encoding="utf-8"))["score"]
        return float(score) if 0 <= score <= 1 else None
    return None


def _remember(path: Path, score: float) -> None:
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps({"score": score}).encode())
