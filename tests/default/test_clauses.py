"""Two contracts that share nothing but standard clauses."""

from dataclasses import replace

import pytest

from longmatch.default.matcher import HybridMatcher
from longmatch.documents.read import read_text_string
from longmatch.matching.match import Match
from longmatch.render.wording import remarks, stated_probability, verdict

FISH = """\
Agreement for the supply of frozen fish

Supply

The Supplier shall deliver to the Harbour Cold Store in each week of the season not less than forty tonnes of
frozen cod and haddock, in cartons of twenty kilograms. The fish shall be frozen on board within six hours of
the catch and kept at eighteen degrees below zero until it is unloaded. A carton whose core is warmer than
twelve degrees below zero on arrival may be refused, and a refused carton is taken away by the Supplier within
two days.

The Buyer inspects one carton of every hundred on the quay. The inspector cuts three fillets, thaws them in
water and notes colour, smell and the presence of worms. If more than two fillets of a sample are poor the Buyer
may sort the whole lot, and the Supplier bears the wages of the sorters.

Price

The price per kilogram follows the auction at the northern port: it is the mean of the four auctions before the
delivery, less six per cent. Should the auction be closed because of storms, the price of the week before holds.
The Buyer pays within thirty days of unloading. For cod that weighs less than two kilograms a tenth is deducted.

Season and vessels

The season begins on the first of October and ends when the quota of the Supplier's three trawlers is used up,
at the latest on the last of April. The Supplier names the trawlers before the season and tells the Buyer
without delay when one of them is laid up for repairs. In weeks of ice the quantity is reduced to what two
trawlers can land.
"""
LENDING = """\
Contract for the software of a lending library

Work

The Contractor writes a catalogue for the public library of the Municipality, with which readers search for
books, reserve them and renew loans from their telephones. The catalogue reads the records of the old system,
about three hundred thousand titles, and removes the duplicates among them. A reader who is blind must be able
to use every screen with a speech program.

The work has four stages: a study of how librarians lend and shelve today, a prototype which ten readers try
out, the programme itself, and the training of the staff in all seven branches. After each stage the
Municipality has fifteen working days to object in writing. A fault that prevents lending is mended within four
hours, any other within a week.

Fees

The Municipality pays a fixed fee for each stage when it has been accepted, and a yearly charge for maintenance
afterwards. Travel to the branches is included. If the prototype is rejected twice, the Municipality may end the
contract and pays half of the fee for the second stage.

Data of readers

The Contractor sees names, birthdays and loans of readers only as far as a fault cannot be found otherwise,
keeps no copy of them, and reports any leak to the Municipality on the same day. When a loan ends, the programme
forgets who had the book, unless the reader wishes to keep a list of what has been read.
"""
CLAUSES = """
Disputes

Any dispute arising out of or in connection with this Agreement, including any question regarding its existence,
validity or termination, shall be referred to and finally resolved by arbitration under the rules of the chamber
of arbitration named in the Schedule, which rules are deemed to be incorporated by reference into this clause.
The number of arbitrators shall be three. The seat of the arbitration shall be the capital city of the country
in which the first party has its registered office. The language to be used in the arbitral proceedings shall be
English. The award shall be final and binding upon the parties, who waive any right to refer the matter to a
court of law.

General

No failure or delay by a party to exercise any right or remedy provided under this Agreement or by law shall
constitute a waiver of that or any other right or remedy. If any provision of this Agreement is or becomes
invalid, illegal or unenforceable, it shall be deemed modified to the minimum extent necessary to make it valid,
legal and enforceable. This Agreement constitutes the entire agreement between the parties and supersedes all
previous agreements, promises, assurances and understandings between them, whether written or oral, relating to
its subject matter. No variation of this Agreement shall be effective unless it is in writing and signed by the
parties.
"""


@pytest.fixture(scope="module")
def compared(matcher: HybridMatcher) -> dict[str, Match]:
    added = "The Supplier keeps records of every delivery for six years and shows them to the Buyer on request.\n"
    texts = {"fish": FISH, "lending": LENDING, "later": FISH.replace("eighteen", "twenty") + added}
    fish, lending, later = (read_text_string(text + CLAUSES, name) for name, text in texts.items())
    return {"strangers": matcher.compare(fish, lending), "versions": matcher.compare(fish, later)}


def test_contracts_that_share_clauses_alone_are_judged_with_and_without_them(compared: dict[str, Match]) -> None:
    match = compared["strangers"]
    assert match.relation == "reuse" and match.probability is not None and match.probability > 0.5
    assert match.probability_of_rest is not None and match.probability_of_rest < 0.3
    assert verdict(match) == "The two share wording, and little else"
    assert "with the wording they share" in stated_probability(match)
    assert remarks(match)[0].startswith("What they share is mostly wording that stands in both (46% of A, 49% of B)")


def test_versions_of_a_contract_belong_together_without_a_caution(compared: dict[str, Match]) -> None:
    match = compared["versions"]
    assert match.relation == "version" and match.probability is not None and match.probability > 0.98
    assert match.probability_of_rest is None and remarks(match) == []
    assert verdict(match) == "The two almost certainly belong together"


@pytest.mark.parametrize(
    ("rest", "said"),
    [(0.4, "80% with the wording they share, 40% without"), (0.75, "80%"), (0.99, "80%")],
)
def test_both_probabilities_are_stated_where_the_shared_wording_changes_the_verdict(
    compared: dict[str, Match], rest: float, said: str
) -> None:
    match = replace(compared["strangers"], probability=0.8, judge_rest=lambda reuse: rest)
    assert stated_probability(match) == said
    assert verdict(match) == "The two probably belong together"
