"""Names of added files."""

from longmatch.web.added_files import NAME_BYTES, safe_name


def test_a_long_name_keeps_both_parts_of_its_suffix():
    name = safe_name("ä" * 300 + ".JSONL.gz")
    assert name.endswith("ä.JSONL.gz") and len(name.encode()) <= NAME_BYTES


def test_a_long_name_keeps_a_suffix_that_longmatch_does_not_read():
    assert safe_name("a" * 300 + ".xyz").endswith("a.xyz")
