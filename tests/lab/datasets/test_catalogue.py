"""The catalogue."""

import pytest

from longmatch.errors import LongmatchError, LongmatchWarning
from longmatch.lab.datasets.builders import peps
from longmatch.lab.datasets.catalogue import ENTRIES, find

PEPS = {"peps/pep-0001.rst": "PEP: 1\nTitle: One\n\nMotivation\n==========\n\n" + "Words of it. " * 150}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_an_entry_states_its_source_licence_size_files_and_rule(entry):
    assert all((entry.what, entry.paper, entry.source, entry.licence, entry.size, entry.files))
    assert callable(entry.builder)
    layout = entry.layout
    assert "section" in layout.lower() or "Reads" in layout


def test_every_set_the_papers_and_the_folders_use_is_there():
    names = {entry.name for entry in ENTRIES}
    papers = {"aan", "wiki-dump", "pat", "gwikimatch", "sdr-games", "sdr-wines", "cnse", "cnss", "lecard-v2", "coliee"}
    folders = {"wiki", "acl", "papers", "legal", "lecard", "news", "peps", "pretrain"}
    assert papers | folders == names


def test_the_gated_set_says_what_a_person_has_to_do():
    assert [entry.name for entry in ENTRIES if entry.steps] == ["coliee"]


def test_a_name_may_be_written_with_underscores_and_an_unknown_one_lists_all():
    assert find("SDR_games").name == "sdr-games"
    with pytest.raises(LongmatchError, match=r"no data set 'nothing' in the catalogue\. It has aan, "):
        find("nothing")


def test_the_chinese_judgments_are_also_found_by_the_name_tables_give_them():
    assert find("legal-zh") is find("legal_zh") is find("lecard")
    assert len({name for entry in ENTRIES for name in {entry.name, entry.alias} - {""}}) == len(ENTRIES) + 1


def test_an_entry_builds_with_its_builder(lay_out, tmp_path):
    summary = find("peps").build(lay_out(PEPS), tmp_path / "out")
    assert (summary.documents, summary.path) == (1, tmp_path / "out")
    assert find("peps").builder is peps.build


def test_a_file_that_is_not_the_published_one_is_warned_of(lay_out, tmp_path):
    header = "label|doc_id1|doc_id2|title1|title2|content1|content2"
    raw = lay_out({"same_event_doc_pair.txt": f"{header}\n1|1|2|一|二|新闻。|新闻。\n"})
    with pytest.warns(LongmatchWarning, match="is not the published file"):
        assert find("cnse").build(raw, tmp_path / "out").pairs == 1
