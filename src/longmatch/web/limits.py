"""How much the server takes on, so that no request can exhaust the machine."""

from dataclasses import dataclass, field

from longmatch.encoders.hardware import usable_cores

MB = 1_000_000


@dataclass(frozen=True)
class Limits:
    """Every bound of the server in one place."""

    upload_bytes: int = 32 * MB  # of a file, and of any request's body
    upload_words: int = 300_000  # of a document: encoding takes time in proportion
    reading_seconds: float = 60.0  # for the process that reads an upload
    scan_seconds: float = 240.0  # where it may have to read scanned pages
    reading_memory: int = 2_000 * MB  # address space of that process
    page_seconds: float = 20.0  # for the process that draws a page of a PDF, which has the same memory
    pictures: int = 64 * MB  # of such pages, kept
    readers: int = 2  # such processes at a time
    uploads: int = 32  # held in memory; the oldest is dropped
    uploads_characters: int = 40_000_000  # of all held uploads together
    added_bytes: int = 8_000 * MB  # of all files that were added to the library from the page
    added_documents: int = 500  # of one file that holds many
    added_words: int = 1_500_000  # of all of them
    upload_files: int = 128 * MB  # of the PDF files of held uploads, whose pages can be shown
    connections: int = 512  # at a time
    head_seconds: int = 10  # for the head of a request, from the connection or the last answer
    body_seconds: float = 20.0  # for its body, and longer as long as it comes at least
    body_speed: int = 16_000  # bytes a second
    waiting: int = 128  # questions that may wait for their turn
    rankers: int = field(default_factory=lambda: min(4, usable_cores()))  # processes when several ask; 1 for none
    jobs: int = 64  # kept, finished ones included
    comparisons: int = 8  # kept, so that another level or an export costs nothing
    cells: int = 4_000_000  # of a grid in one answer
    hits: int = 200  # of a ranking
