"""Everyday words by language: those that carry a sentence and say nothing about its subject.

English ones are known from the background text, apart from what an encyclopedia seldom has. A word of one language may
be a subject in another ("war", "die"), so the lists are used for texts in their language alone.
"""

_WORDS = {
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


def function_words(language: str) -> tuple[str, ...]:
    """Everyday words of a language, by its two-letter code; none of one that has no list.

    >>> "wurde" in function_words("de"), "wurde" in function_words("en"), function_words("fi")
    (True, False, ())
    """
    return tuple(_WORDS.get(language, "").split())
