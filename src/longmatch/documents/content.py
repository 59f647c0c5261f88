"""What tells whether a document has changed."""

import json
from hashlib import blake2b

from longmatch.documents.document import Document


def content_hash(document: Document) -> str:
    """The same for two documents that read the same, wherever they lie."""
    shape = [(s.start, s.end, s.heading, s.level) for s in document.sections]
    facts = json.dumps([document.title, document.language, shape, dict(document.metadata)], sort_keys=True, default=str)
    digest = blake2b(facts.encode("utf-8", "surrogatepass"), digest_size=16)
    for text in (document.text, document.plain):
        digest.update(b"\0" + text.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()
