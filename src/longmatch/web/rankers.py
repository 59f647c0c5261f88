"""Processes that answer questions about documents of the library, so that several are answered at a time.

Each has the library open for itself, and its memory with it. They start when a question first finds the scoring thread
at work: who searches alone never needs them. Until they are ready, the thread goes on answering.
"""

import asyncio
import json
import os
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import Sequence

from longmatch.parallel import ENVIRONMENT
from longmatch.web.limits import Limits
from longmatch.web.messages import message, next_message
from longmatch.web.problems import Problem, log, too_many
from longmatch.web.schema import RankRequest


class Rankers:
    """Such processes for one library."""

    def __init__(self, address: str | None, limits: Limits, command: Sequence[str] | None = None) -> None:
        """`address` is that of the library; None where a process could not open it."""
        self._limits = limits
        self._command = command or [sys.executable, "-m", "longmatch.web.ranking_process", address or ""]
        self._usable = limits.rankers > 1 and address is not None
        self._started: list[Process] = []
        self._processes: list[Process] = []  # those that take questions
        self._opening: set[asyncio.Task[None]] = set()
        self._idle: asyncio.Queue[Process | None] = asyncio.Queue()  # None tells one who waits that there is none
        self._waiting = 0

    @property
    def ready(self) -> bool:
        """Whether there are any that take questions."""
        return bool(self._processes)

    def start(self) -> None:
        """Start them, if there are to be any and there are none; they are ready some seconds later."""
        if self._usable and not self._opening and not self._processes:
            for _ in range(self._limits.rankers):
                self._start_one()

    def _start_one(self) -> None:
        opening = asyncio.ensure_future(self._open_one())
        self._opening.add(opening)
        opening.add_done_callback(self._opened)

    async def _open_one(self) -> None:
        process = await asyncio.create_subprocess_exec(
            *self._command, stdin=PIPE, stdout=PIPE, env=os.environ | ENVIRONMENT, start_new_session=True
        )
        self._started.append(process)
        if await self._next_message(process) is not None:
            self._processes.append(process)
            self._idle.put_nowait(process)

    def _opened(self, opening: "asyncio.Task[None]") -> None:
        """Where none could open the library, nobody waits for one any more."""
        self._opening.discard(opening)
        if not self._opening and not self._processes and not opening.cancelled():
            self._usable = False
            log.warning("Questions are answered one at a time: no other process can open the library.")
            for _ in range(self._waiting):
                self._idle.put_nowait(None)

    async def _next_message(self, process: Process) -> bytes | None:
        assert process.stdout is not None
        return await next_message(process.stdout)

    async def rank(self, asked: RankRequest) -> bytes:
        """The answer as JSON."""
        if self._waiting >= self._limits.waiting:
            raise too_many()
        self._waiting += 1
        try:
            answer = await self._ask(asked.model_dump_json().encode())
        finally:
            self._waiting -= 1
        if answer.startswith(b'{"status"'):
            found = json.loads(answer)
            raise Problem(found["status"], found["problem"])
        return answer

    async def _ask(self, question: bytes) -> bytes:
        process = await self._idle.get()
        if process is None:
            raise _stopped()
        try:
            assert process.stdin is not None
            process.stdin.write(message(question))
            await process.stdin.drain()
            answer = await self._next_message(process)
        except ConnectionError:
            answer = None
        except asyncio.CancelledError:  # its answer would be taken for that of the next question
            self._replace(process)
            raise
        if answer is None:
            self._replace(process)
            raise _stopped()
        self._idle.put_nowait(process)
        return answer

    def _replace(self, process: Process) -> None:
        """Another one takes its place."""
        self._processes.remove(process)
        if process.returncode is None:
            process.kill()
        self._start_one()

    async def close(self) -> None:
        """End them."""
        for opening in list(self._opening):
            opening.cancel()
        while self._started:
            process = self._started.pop()
            if process.returncode is None:
                process.kill()
            await process.communicate()


def _stopped() -> Problem:
    return Problem(503, "The process that ranked was stopped. Ask again.", {"Retry-After": "1"})
