"""A process that answers questions about documents of one library: `python -m longmatch.web.ranking_process ADDRESS`.

Questions come on standard input and answers go to standard output, each a message of JSON. The first says that the
library is open. The process ends with its input, so it never outlives the server.
"""

import json
import sys
import traceback

from longmatch.errors import LongmatchError
from longmatch.library.library import Library
from longmatch.web.limits import Limits
from longmatch.web.messages import message, messages
from longmatch.web.problems import UNKNOWN, status_of, without_paths
from longmatch.web.ranking import rank_now
from longmatch.web.schema import RankRequest
from longmatch.web.state import State


def answer(state: State, question: bytes) -> bytes:
    """The ranking, or what is wrong with the question."""
    try:
        return rank_now(state, RankRequest.model_validate_json(question)).model_dump_json().encode()
    except LongmatchError as error:
        return _problem(status_of(error), without_paths(str(error), state.library))
    except Exception:
        traceback.print_exc()  # to the terminal of the server
        return _problem(500, UNKNOWN)


def _problem(status: int, sentence: str) -> bytes:
    return json.dumps({"status": status, "problem": sentence}).encode()


def serve(library: Library) -> None:
    """Answer until the input ends."""
    state = State(library, Limits(rankers=1))
    library.preload()
    sys.stdout.buffer.write(message(b"{}"))
    sys.stdout.flush()
    for question in messages(sys.stdin.buffer):
        sys.stdout.buffer.write(message(answer(state, question)))
        sys.stdout.flush()


if __name__ == "__main__":
    serve(Library(sys.argv[1], create=False))
