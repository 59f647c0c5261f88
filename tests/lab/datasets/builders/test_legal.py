"""IRLeD, LeCaRD v1 and v2, and COLIEE: legal case retrieval."""

import io
import json
import zipfile

from longmatch.lab.datasets.builders import coliee, irled, lecard_v1, lecard_v2
from longmatch.lab.datasets.splits import LEGAL, LEGAL_ZH


def test_irled_ranks_prior_cases_only(built):
    top = "FIRE2017-IRLeD-track-data/Task_2"
    files = {
        f"{top}/Current_Cases/current_case_0001.txt": "1. Leave granted.\n\n2. As held in [?CITATION?]\nwe agree.",
        f"{top}/Current_Cases/current_case_0002.txt": "Line one.\nLine two.",
        f"{top}/Prior_Cases/prior_case_0001.txt": "A prior case.",
        f"{top}/Prior_Cases/prior_case_0002.txt": "Another.",
        f"{top}/Prior_Cases/prior_case_0003.txt": "",
        f"{top}/irled-qrel.txt": "current_case_0001 Q0 prior_case_0002 1\ncurrent_case_0002 Q0 prior_case_0003 1\n",
        f"{top}/Readme-task2.txt": "read me",
    }
    data = built(irled.build, files)
    assert data.ids == ("current_case_0001", "current_case_0002", "prior_case_0001", "prior_case_0002")
    assert data.pool("current_case_0001") == ("prior_case_0001", "prior_case_0002")
    assert data.qrels() == {"current_case_0001": {"prior_case_0002": 1}}
    assert data.judgements()[0].split == LEGAL.of("current_case_0001")
    texts = [record.parts[0].text for record in data.records()]
    assert texts[:2] == ["1. Leave granted.\n\n2. As held in [?CITATION?] we agree.", "Line one.\n\nLine two."]


def case(name: str, **fields: str) -> str:
    return json.dumps({"ajId": "1", "ajName": name, "writId": "2", **fields}, ensure_ascii=False)


FULL = case("甲盗窃一案", ajjbqk=" 公诉机关指控。", cpfxgc="本院认为。", pjjg="判处一年。", qw="全文")


def zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def test_lecard_reads_pools_from_folders_and_from_zip_files(built):
    files = {
        "data/query/query.json": "".join(
            json.dumps({"path": "p", "ridx": ridx, "q": q, "crime": ["盗窃罪"]}, ensure_ascii=False) + "\n"
            for ridx, q in ((5156, "被告人甲。"), (-1071, "被告人乙。"))
        ),
        "data/candidates/candidates1.zip": zipped(
            {"5156/38633.json": FULL, "5156/412.json": case("乙", qw="只有全文。")}
        ),
        "data/candidates/-1071/38633.json": FULL,
        "data/label/label_top30_dict.json": json.dumps({"5156": {"38633": 3, "412": 0}, "-1071": {"38633": 2}}),
        "data/prediction/bm25_top100.json": "{}",
    }
    data = built(lecard_v1.build, files)
    assert set(data.ids) == {"5156", "-1071", "38633", "412"}
    assert data.pool("5156") == ("38633", "412")
    assert data.pool("-1071") == ("38633",)
    assert data.qrels() == {"5156": {"38633": 3, "412": 0}, "-1071": {"38633": 2}}
    assert all(row.split == LEGAL_ZH.of(row.query) for row in data.judgements())
    records = {record.id: record for record in data.records()}
    assert [tuple(part) for part in records["38633"].parts] == [
        ("案件基本情况 (facts)", "公诉机关指控。"),
        ("裁判分析过程 (reasoning)", "本院认为。"),
        ("判决结果 (judgment)", "判处一年。"),
    ]
    assert (records["38633"].title, records["38633"].language) == ("甲盗窃一案", "zh")
    assert records["412"].parts[0].text == "只有全文。"


def test_lecard_v2_keeps_the_released_test_queries(built):
    def query(id: int) -> str:
        return json.dumps({"id": id, "query": f"判决书{id}", "fact": f"事实{id}"}, ensure_ascii=False) + "\n"

    def candidate(pid: int) -> str:
        fields = {"pid": pid, "qw": "全文", "fact": f"事实{pid}", "reason": "理由", "result": "", "charge": ["盗窃罪"]}
        return json.dumps(fields, ensure_ascii=False)

    files = {
        "query/train_query.json": "".join(map(query, range(2, 40))),
        "query/test_query.json": query(1),
        "candidate/candidate_55192/1.json": candidate(1),
        "candidate/candidate_55192/2753310.json": candidate(2753310),
        "label/relevence.trec": "".join(f"{q}\t0\t2753310\t2\n" for q in range(1, 40)) + "1\t0\t1\t0\n",
        "label/test_relevence.trec": "1\t0\t2753310\t2\n",
    }
    data = built(lecard_v2.build, files)
    assert len(data.ids) == 41
    assert data.pool("query-1") == ("1", "2753310")
    assert data.qrels("test") == {"query-1": {"1": 0, "2753310": 2}}
    assert 0 < len(data.qrels("validation")) < len(data.qrels("train"))
    last = list(data.records())[-1]
    assert [part.heading for part in last.parts] == ["案件基本情况 (facts)", "裁判分析过程 (reasoning)"]


def test_coliee_ranks_the_cases_of_the_querys_own_part(built):
    files = {
        **{f"task1_train_files_2023/{n:06}.txt": f"[1] Case {n} <FRAGMENT_SUPPRESSED>\nis here." for n in range(40)},
        **{f"task1_test_files_2023/{n:06}.txt": f"[1]\nCase {n}.\n[2]\nEnd." for n in range(100, 104)},
        "task1_train_labels_2023.json": json.dumps({f"{n:06}.txt": ["000000.txt"] for n in range(1, 40)}),
        "task1_test_labels_2023.json": json.dumps({"000100.txt": ["000101.txt", "000102.txt"]}),
    }
    data = built(coliee.build, files)
    assert len(data.ids) == 44
    assert data.qrels("test") == {"000100": {"000101": 1, "000102": 1}}
    assert data.pool("000100") == ("000101", "000102", "000103")
    validation = data.qrels("validation")
    assert 0 < len(validation) < 20
    assert len(data.pool(next(iter(validation)))) == 39
    texts = {record.id: record.parts[0].text for record in data.records()}
    assert texts["000007"] == "Case 7 is here."
    assert texts["000100"] == "Case 100.\n\nEnd."
