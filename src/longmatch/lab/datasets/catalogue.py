"""The catalogue of data sets: source, licence, size, manual steps if gated, and builder."""

import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import file_digest
from importlib import import_module
from inspect import getdoc
from pathlib import Path

from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.datasets.writer import Summary


@dataclass(frozen=True)
class Entry:
    """A data set that can be built from public or gated upstream files."""

    name: str
    what: str
    paper: str  # whose experiments it is for
    source: str
    licence: str
    size: str
    module: str  # of the builder, under longmatch.lab.datasets.builders
    files: str = ""  # the files to fetch
    sha256: tuple[tuple[str, str], ...] = ()  # upstream files and their checksums, if published
    variant: str = ""  # the set to build, for a builder of several
    steps: str = ""  # what to do by hand to get a gated set
    alias: str = ""  # its name in tables, if different

    @property
    def builder(self) -> Callable[..., Summary]:
        """The function `build(raw, out, **options)`; the options depend on the builder."""
        module = import_module(f"longmatch.lab.datasets.builders.{self.module}")
        build: Callable[..., Summary] = module.build
        return partial(build, variant=self.variant) if self.variant else build

    @property
    def layout(self) -> str:
        """The upstream layout the builder reads, and its labelling rule, as text."""
        return getdoc(import_module(f"longmatch.lab.datasets.builders.{self.module}")) or ""

    def build(self, raw: Path, out: Path, **options: object) -> Summary:
        """Build the set from the upstream files in `raw` into the new folder `out`."""
        for name, checksum in self.sha256:
            for path in [raw] if raw.name == name else sorted(raw.rglob(name)):
                with path.open("rb") as file:
                    if file_digest(file, "sha256").hexdigest() != checksum:
                        message = f"{path} is not the published file (its checksum differs): results may not compare."
                        warnings.warn(message, LongmatchWarning, stacklevel=2)
        return self.builder(raw, out, **options)

    def facts(self) -> dict[str, object]:
        """The entry as a dictionary for JSON."""
        facts = {key: value for key, value in asdict(self).items() if key not in {"module", "variant"}}
        return {**facts, "sha256": [f"{digest} {name}" for name, digest in self.sha256], "layout": self.layout}


_WIKIPEDIA = "GFDL and CC BY-SA (Wikipedia's text)"

ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="aan",
        what="papers of the ACL Anthology Network, citations",
        paper="CoLDE AAN, SMITH AAN104K",
        source="ACL Anthology Network corpus, 2014 release (Radev et al. 2013)",
        licence="CC BY-NC-SA 3.0 for papers before 2016; evaluation only",
        size="23,766 papers",
        files="the aan folder: papers_text/, release/2014/acl.txt, release/2014/acl-metadata.txt",
        module="aan",
    ),
    Entry(
        name="wiki-dump",
        what="Wikipedia articles that share outgoing links",
        paper="CoLDE WIKI, SMITH Wiki65K",
        source="a Wikipedia dump (dumps.wikimedia.org, pages-articles)",
        licence="CC BY-SA 4.0 and GFDL",
        size="English: about 20 GB packed; the papers keep 60,000 articles",
        files="enwiki-<date>-pages-articles.xml.bz2 (any language); its checksum is published next to it",
        module="wiki_dump",
    ),
    Entry(
        name="pat",
        what="patents, claims and description, CPC codes",
        paper="CoLDE PAT",
        source="USPTO patent grant full text (Open Data Portal)",
        licence="public domain, with exceptions stated by the USPTO",
        size="about 6,000 patents a week, 700 MB unpacked; the paper keeps 3,000",
        files="ipg<yymmdd>.zip of one or more weeks; your own labels.tsv, if any",
        module="pat",
    ),
    Entry(
        name="gwikimatch",
        what="pairs of Wikipedia articles with human labels",
        paper="SMITH",
        source="google-research: gwikimatch (URLs and labels), with a Wikipedia dump for the text",
        licence="CC BY 4.0 (labels); " + _WIKIPEDIA,
        size="14,661 pairs",
        files="the train, eval and test .tsv files and a pages-articles dump, in one folder",
        module="gwikimatch",
    ),
    Entry(
        name="sdr-games",
        what="articles on video games, similar ones chosen by an expert",
        paper="SDR",
        source="microsoft/SDR (labels) and Zenodo record 4812962 (articles)",
        licence="MIT (labels); CC BY-SA (Wikipedia's text)",
        size="21,935 articles, 90 queries",
        files="video_games.txt and the repository's data/datasets/video_games/gt",
        module="sdr_articles",
        variant="video_games",
    ),
    Entry(
        name="sdr-wines",
        what="articles on wines, similar ones chosen by an expert",
        paper="SDR",
        source="microsoft/SDR (labels) and Zenodo record 4812960 (articles)",
        licence="MIT (labels); CC BY-SA (Wikipedia's text)",
        size="1,635 articles, 94 queries",
        files="wines.txt and the repository's data/datasets/wines/gt",
        module="sdr_articles",
        variant="wines",
    ),
    Entry(
        name="cnse",
        what="Chinese news, same event or not",
        paper="SST CNSE",
        source="BangLiu/ArticlePairMatching (Liu et al. 2019)",
        licence="not stated; evaluation only",
        size="29,063 pairs",
        files="data/raw/event-story-cluster/same_event_doc_pair.txt (stored with Git LFS)",
        sha256=(("same_event_doc_pair.txt", "e5c2482c410f19418256839d7158d18244e9630466f262b064fb5a69e6f7dddc"),),
        module="news_pairs",
        variant="event",
    ),
    Entry(
        name="cnss",
        what="Chinese news, same story or not",
        paper="SST CNSS",
        source="BangLiu/ArticlePairMatching (Liu et al. 2019)",
        licence="not stated; evaluation only",
        size="33,503 pairs",
        files="data/raw/event-story-cluster/same_story_doc_pair.txt (stored with Git LFS)",
        sha256=(("same_story_doc_pair.txt", "029bbff43aaeed517ef26169bdd656acbca9896f93486e59064bfc4d9d96efca"),),
        module="news_pairs",
        variant="story",
    ),
    Entry(
        name="lecard",
        what="Chinese criminal judgments, expert grades, pools",
        paper="SST legal case retrieval (its predecessor)",
        source="myx666/LeCaRD (Ma et al. 2021)",
        licence="MIT",
        size="107 queries, 10,700 candidates",
        files="the repository's data folder: query/, candidates/, label/",
        module="lecard_v1",
        alias="legal-zh",
    ),
    Entry(
        name="lecard-v2",
        what="Chinese criminal judgments, expert grades",
        paper="SST LeCaRDv2",
        source="THUIR/LeCaRDv2 (Li et al. 2024)",
        licence="MIT",
        size="800 queries, 55,192 candidates",
        files="the repository's query/ and label/, and the candidates its candidate/README.md links to",
        module="lecard_v2",
    ),
    Entry(
        name="coliee",
        what="Canadian judgments, the cases they notice",
        paper="SST COLIEE 2023",
        source="COLIEE task 1, the year's organisers",
        licence="the organisers' agreement; no redistribution",
        size="2023: 959 training and 319 test queries, 5,735 cases",
        files="task1_train_files_<year>, task1_train_labels_<year>.json, and the same for test",
        steps="Ask the COLIEE organisers for the task 1 data, sign the agreement they send, and unpack the files.",
        module="coliee",
    ),
    Entry(
        name="wiki",
        what="Wikipedia for Schools, links",
        paper="CoLDE WIKI, SMITH Wiki65K, SDR ranking",
        source="Wikispeedia (SNAP; West & Leskovec 2012) over the 2007 Wikipedia Selection for Schools",
        licence="GFDL",
        size="4,604 articles, 119,882 links",
        files="wikispeedia_paths-and-graph.tar.gz, and wpcd/ or wikispeedia_articles_plaintext.tar.gz",
        module="wikispeedia",
    ),
    Entry(
        name="acl",
        what="papers of the ACL Anthology, citations",
        paper="CoLDE AAN, SMITH AAN104K",
        source="ScisummNet / CL-SciSumm (WING-NUS/scisumm-corpus)",
        licence="CC BY-NC-SA for many papers; evaluation only",
        size="about 1,600 papers",
        files="the repository, or the ScisummNet release",
        module="scisumm",
    ),
    Entry(
        name="papers",
        what="arXiv papers, citations",
        paper="AAN at larger size",
        source="PeerRead (allenai/PeerRead)",
        licence="varies by author; evaluation only",
        size="about 11,000 parsed papers",
        files="the repository's data folder",
        module="peerread",
    ),
    Entry(
        name="legal",
        what="Indian judgments, prior cases relied on",
        paper="SST legal case retrieval",
        source="FIRE 2017 IRLeD track, task 2 (Mandal et al. 2017)",
        licence="not stated; evaluation only",
        size="200 queries, 2,000 prior cases",
        files="FIRE2017-IRLeD-track-data/Task_2: Current_Cases/, Prior_Cases/, irled-qrel.txt",
        module="irled",
    ),
    Entry(
        name="news",
        what="news articles, same event or another of its kind",
        paper="SST CNSE",
        source="ECB+ (Cybulska & Vossen 2014)",
        licence="CC BY 3.0 (annotations)",
        size="982 articles in 43 topics",
        files="ECB+_LREC2014: the ECB+ folder or ECB+.zip",
        module="ecbplus",
    ),
    Entry(
        name="peps",
        what="Python Enhancement Proposals, references",
        paper="small and fast, for trying things out",
        source="python/peps",
        licence="public domain or CC0, stated in each",
        size="about 700 proposals",
        files="the repository",
        module="peps",
    ),
    Entry(
        name="pretrain",
        what="Wikipedia articles, no labels",
        paper="SMITH and SDR pre-training",
        source="a Wikipedia dump through WikiExtractor",
        licence="CC BY-SA 3.0",
        size="as many as you extract",
        files="WikiExtractor's output folder (AA/wiki_00, ...)",
        module="wikiextractor",
    ),
)


def find(name: str) -> Entry:
    """The entry with that name or alias.

    >>> find("peps").licence, find("legal-zh").name
    ('public domain or CC0, stated in each', 'lecard')
    """
    wanted = name.lower().replace("_", "-")
    for entry in ENTRIES:
        if wanted in (entry.name, entry.alias):
            return entry
    names = ", ".join(entry.name for entry in ENTRIES)
    raise LongmatchError(f"There is no data set {name!r} in the catalogue. It has {names}.")
