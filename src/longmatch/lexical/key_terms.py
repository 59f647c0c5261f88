"""Which of the shared words and phrases to show a reader, how much each carries, and how it is written.

A phrase is shown by its core, what remains without the everyday words at its ends: "bank had" as "bank", "the central
bank" as "central bank". A core carries what all its phrases carry, so that nothing is lost or counted twice. A phrase
of everyday words alone is its own core, and comes last, as does a word that half the texts of some kind have.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache

import numpy as np

from longmatch.documents.language import COMMON_WORDS, words_of
from longmatch.lexical.form import content_words, without_form
from longmatch.lexical.links import Shared
from longmatch.lexical.terms import (
    PHRASE_LENGTHS,
    Flags,
    Hashes,
    Ints,
    Stream,
    hash_runs,
    hash_word,
    lookup,
    phrases_of,
    run_starts,
)
from longmatch.lexical.weights import TermBackground
from longmatch.matching.match import Term
from longmatch.matching.sentences import Sentences

FUNCTION_WORDS = {  # by language: those that carry a sentence and say nothing about its subject
    # English ones are known from the background text, apart from what an encyclopedia seldom has. A word of one
    # language may be a subject in another ("war", "die"), so the lists are used for texts in their language alone.
    "en": "me my we us our you your she her",
    "de": """
        ab aber alle allem allen aller alles als also am an andere anderen anderer ans auch auf aus bei beide beim
        bereits bis bzw da dabei dadurch dafür damit danach dann daran darauf daraus darin darüber das dass davon
        dazu dem den denen denn der deren des deshalb dessen die dies diese diesem diesen dieser dieses doch dort du
        durch ebenfalls ebenso eher ein eine einem einen einer eines einige er erst es etwa etwas euch für gegen
        gegenüber gemäß ganz hat hatte hatten haben hier hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im
        immer in indem ins ist ja je jede jedem jeden jeder jedes jedoch kann kein keine keinem keinen keiner können
        könnte man mehr mein mich mir mit muss müssen nach nachdem nicht nichts noch nun nur ob oder ohne schon sehr
        sei sein seine seinem seinen seiner seit sich sie sind so sodass sofern soll sollen sollte somit sondern
        sowie sowohl statt über um und uns unser unsere unter vom von vor war waren was weder wegen weil weiter
        weitere weiteren welche welchem welchen welcher welches wenn wer werden wie wieder wir wird wo worden wurde
        wurden während würde würden zu zum zur zwar zwischen""",
    "fr": """
        afin ai ainsi alors après au aucun aucune aussi autre autres aux avait avant avec avoir c'est car ce cela
        celle celles celui ces cet cette ceux chaque comme contre d'un d'une dans de depuis des deux donc dont du
        elle elles en encore entre est et étaient était été être eux fait faire il ils je jusqu la laquelle le
        lequel les lesquels leur leurs lors lorsque lui mais même mêmes moins n'est ne ni non nos notre nous on ont
        ou où par parce pas pendant peu peut peuvent plus pour pourrait quand que quel quelle quelles quels qu'il
        qu'elle qui sa sans se selon sera ses si soit son sont sous sur tandis tant te tous tout toute toutes très
        tu un une vers voir vos votre vous y""",
    "es": """
        a al algo algunos alguna algunas ante antes aquel así aún aunque cada como con contra cual cuales cuando de
        debe deben del desde después donde dos durante e el él ella ellas ellos en entre era eran es esa esas ese
        eso esos esta está estaba están estas este esto estos fue fueron ha había hace hacia han hasta hay incluso
        la las le les lo los luego más me mediante mi mientras misma mismo mucho muy nada ni no nos nosotros o otra
        otras otro otros para pero poco por porque pues puede pueden que qué quien quienes se sea según ser será si
        sí siempre sin sino sobre solo son su sus también tan tanto tiene tienen toda todas todo todos tras tu un
        una unas uno unos y ya yo""",
    "it": """
        a ad agli ai al alcuni alcune alla alle allo altri altra altre altro anche ancora avere aveva aver che chi
        ci ciò cioè ciascuno col come con contro cosa così cui da dagli dai dal dalla dalle dallo degli dei del dell
        dell'un della delle dello dopo dove dovrebbe due e è ed ella era erano essa esse essere essi fa fra fino gli
        ha hanno ho i il in infatti inoltre la le lei li lo loro lui ma mediante mentre mio molto ne negli nei nel
        nella nelle nello no noi non nostro o ogni oltre oppure per perché però più poi possono può prima proprio
        qual quale quali quando quanto quella quelle quelli quello questa queste questi questo qui quindi se secondo
        sé senza si sia siano solo sono sotto sta stata state stati stato su sua sue sugli sui sul sulla sulle suo
        suoi tale tali tra tutta tutte tutti tutto un una uno verso vi""",
    "nl": """
        aan al alle alleen als altijd andere bij binnen daar daarbij dan dat de deze die dit doen door dus een eens
        en er geen haar had hadden heb hebben heeft hem hen het hier hij hoe hun ik in is ja je kan kon kunnen maar
        me meer men met mij mijn moet moeten na naar niet niets nog nu of om omdat onder ons onze ook op over reeds
        te tegen toch toen tot tussen u uit uw van vanaf veel verder volgens voor waar waarbij waren was wat we wel
        werd werden wie wij wil worden wordt zal ze zelf zich zij zijn zo zoals zonder zou zouden""",
    "pt": """
        a à ao aos apenas após as às até cada com como contra da das de dela dele deles depois desde desta deste
        disso do dos durante e é ela elas ele eles em enquanto entre era eram essa essas esse esses esta está estão
        estas estava este estes eu foi foram há isso isto já lhe lhes mais mas me meio mesma mesmo meu muito na nas
        nem no nos nós nossa nosso não num numa o onde os ou outra outras outro outros para pela pelas pelo pelos
        pode podem por porque quais qual quando que quem são se segundo seja sem sempre ser será seu seus si sido
        sob sobre sua suas também tanto tão tem têm ter tinha toda todas todo todos um uma umas uns""",
}
LENGTHS = (1, *PHRASE_LENGTHS)
SYMBOLS = (
    "abcdefghijklmnopqrstuvwxyzαβγδεζηθικλμνξοπρστυφχψω"  # single letters, which name something in a formula alone
)
MOST_WORDS = 8  # listed of those that two sentences share
NUMBERS = 1_000  # up to which a number by itself says nothing
TOP_TERMS = 40  # considered; those that are part of a heavier one are left out


def key_terms(
    shared: Sequence[Shared], words: Stream, sentences: Sentences, background: TermBackground
) -> tuple[Term, ...]:
    """The cores that carry most of the lexical evidence, spelled as they stand in one of the documents.

    `words` are the words of that document's `sentences`; `background` says which are everyday words.
    """
    ids, mass = (np.concatenate(parts) for parts in zip(*((s.ids, s.mass) for s in shared), strict=True))
    terms, core, everyday, sentence = _cores(words, is_everyday(words.ids, background, sentences.document.language))
    carried = np.bincount(core[np.searchsorted(terms, ids)], mass, len(terms))
    best = np.lexsort((-carried, everyday | background.common(terms)))[:TOP_TERMS]
    best = best[carried[best] > 0]
    spelled = spell(terms[best].tolist(), [sentences.readable(i) for i in np.unique(sentence[best]).tolist()])
    total = float(mass.sum()) or 1.0
    found, shown = [], list[str]()
    for term, weight in zip(terms[best].tolist(), carried[best].tolist(), strict=True):
        padded = f" {spelled.get(term, '')} "
        if term in spelled and not any(padded in other for other in shown):  # no "model" after "language model"
            shown.append(padded)
            found.append(Term(spelled[term], weight / total))
    return tuple(found)


def is_everyday(words: Hashes, background: TermBackground, language: str = "en") -> Flags:
    """Which words of a text are everyday ones: those of much of general text, and the function words of its language.

    Single letters and small numbers are no better by themselves.
    """
    return np.asarray(lookup(background.everyday, words)[1] | lookup(_others(language), words)[1])


@cache
def _others(language: str) -> Hashes:
    words = (*function_words("en"), *function_words(language), *COMMON_WORDS, *SYMBOLS, *map(str, range(NUMBERS + 1)))
    return np.unique(np.array([hash_word(word) for word in words], dtype=np.uint64))


def _cores(words: Stream, common: Flags) -> tuple[Hashes, Ints, Flags, Ints]:
    """The distinct terms of a document, sorted; where among them the core of each is; whether it is of everyday words
    alone; and a sentence that holds it.
    """
    runs = [run_starts(words, length) for length in LENGTHS]
    starts, lengths = np.concatenate(runs), np.repeat(LENGTHS, [len(starts) for starts in runs])
    terms, first = np.unique(_hashed(words, starts, lengths), return_index=True)
    starts, lengths = starts[first], lengths[first]
    begins, ends = starts.copy(), starts + lengths
    for _ in LENGTHS:
        begins += (begins < ends) & common[np.minimum(begins, len(common) - 1)]
        ends -= (begins < ends) & common[ends - 1]
    empty = begins == ends
    begins, ends = np.where(empty, starts, begins), np.where(empty, starts + lengths, ends)
    return terms, np.searchsorted(terms, _hashed(words, begins, ends - begins)), empty, words.sentence[starts]


def _hashed(words: Stream, starts: Ints, lengths: Ints) -> Hashes:
    """The terms of runs of words."""
    terms = np.empty(len(starts), dtype=np.uint64)
    for length in LENGTHS:
        terms[lengths == length] = hash_runs(words.ids, starts[lengths == length], length)
    return terms


def spell(wanted: Iterable[int], sentences: list[str]) -> dict[int, str]:
    """The words and phrases behind hashes, looked up in the sentences they stand in."""
    missing, found = set(wanted), dict[int, str]()
    for term, text in (reading for sentence in sentences for reading in _readings(sentence)):
        if term in missing:
            missing.discard(term)
            found[term] = text
            if not missing:
                break
    return found


def _readings(sentence: str) -> Iterator[tuple[int, str]]:
    """The words of a sentence, then its phrases: the default's terms, then the baselines' terms."""
    for split in (_content_words, words_of):
        words = split(sentence)
        yield from ((hash_word(word), word) for word in words)
        yield from _phrases(words)


@lru_cache(maxsize=1 << 10)  # a query's sentences are asked for with every hit
def _content_words(sentence: str) -> list[str]:
    return content_words(sentence)


def written(first: int, last: int, sentence: str) -> str:
    """The text from one term to another as it is written in a sentence; empty where they do not follow each other.

    >>> written(hash_word("alan"), hash_word("turing"), "It was Alan Turing who came.")
    'Alan Turing'
    >>> written(hash_word("alan"), hash_word("turing"), "It was Alan [12] Turing who came.")
    'Alan [12] Turing'
    """
    content = without_form(sentence)
    words = words_of(content)
    places = [(i, i) for i in range(len(words))]
    places += [(i, i + length - 1) for length in PHRASE_LENGTHS for i in range(max(0, len(words) - length + 1))]
    terms = [hash_word(word) for word in words] + [term for term, _ in _phrases(words)]
    starts, ends = (
        [p for p, term in zip(places, terms, strict=True) if term == end] for end in (int(first), int(last))
    )
    runs = [(end - begin, begin, end) for begin, _ in starts for at, end in ends if at >= begin]
    if not runs:
        return ""
    _, begin, end = min(runs)

    # where the lower-case words stand in the text
    lowered, at, spans = content.lower(), 0, []
    origins = [place for place, character in enumerate(content) for _ in character.lower()]  # İ becomes two characters
    for word in words:
        first = lowered.index(word, at)
        at = first + len(word)
        spans.append((origins[first], origins[at - 1] + 1))
    return sentence[spans[begin][0] : spans[end][1]]


def _phrases(words: list[str]) -> list[tuple[int, str]]:
    ids = np.array([hash_word(word) for word in words], dtype=np.uint64)
    stream = phrases_of(Stream(ids, np.array([0, len(ids)], dtype=np.int64)))
    glue = "" if words and all(len(w) == 1 and ord(w) > 0x2FFF for w in words) else " "
    runs = [
        glue.join(words[i : i + length]) for length in PHRASE_LENGTHS for i in range(max(0, len(words) - length + 1))
    ]
    return list(zip(stream.ids.tolist(), runs, strict=True))


def function_words(language: str) -> tuple[str, ...]:
    """Everyday words of a language, by its two-letter code; none of one that has no list.

    >>> "wurde" in function_words("de"), "wurde" in function_words("en"), function_words("fi")
    (True, False, ())
    """
    return tuple(FUNCTION_WORDS.get(language, "").split())


def heaviest_words(shared: Shared, held: Sequence[Ints], sentences: Sentences, rows: Ints) -> list[tuple[str, ...]]:
    """Which of the shared words that both sentences of each pair hold are the heaviest, spelled as in the first.

    `held` are their places in `shared`; `rows` the first sentences of the pairs.
    """
    text, found = sentences.document.readable, []
    spans = zip(sentences.starts[rows].tolist(), sentences.ends[rows].tolist(), strict=True)
    for both, (start, end) in zip(held, spans, strict=True):
        mass = shared.mass[both]
        heaviest = np.argsort(-mass, kind="stable")[:MOST_WORDS]
        heavy = mass.max(initial=0.0) / 5  # what weighs less are words found everywhere
        best = shared.ids[both[heaviest[mass[heaviest] > heavy]]].tolist()
        spelled = spell(best, [text[start:end]])
        found.append(tuple(spelled[word] for word in best if word in spelled))
    return found
