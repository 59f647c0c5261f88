"""What longmatch says when something is wrong: one sentence that names the file or option and the way out."""


class LongmatchError(Exception):
    """A mistake the user can mend. The command line prints it as it is and exits with code 2."""


class ReadError(LongmatchError):
    """A file that cannot be read as a document.

    >>> str(ReadError("a.pdf", "needs a password", "Save a copy without one."))
    'a.pdf needs a password. Save a copy without one.'
    """

    def __init__(self, path: object, problem: str, advice: str) -> None:
        super().__init__(f"{path} {problem}. {advice}")
        self.path, self.problem, self.advice = str(path), problem, advice

    def __reduce__(self) -> tuple[type["ReadError"], tuple[str, str, str]]:
        """Survive the way back from a worker process."""
        return type(self), (self.path, self.problem, self.advice)


class LongmatchWarning(UserWarning):
    """Something the user should know, said once: a document read only in part, for example."""
