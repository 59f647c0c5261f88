"""The words of form by language: labels of a document's parts, and months.

A trailing dot marks an abbreviation that needs its dot: "p. 4", but not "p 4".
"""

# Parts that laws have too, so that a named work may follow: "Article 14 of the Constitution", "§ 823 BGB".
PROVISIONS = """
section sections sec secs sect. subsection subsections article articles art. arts. chapter chapters chap. ch.
paragraph paragraphs para paras par. clause clauses annex annexes appendix appendices app. s. ss.
abschnitt abschnitte abschnitten abschnitts kapitel kapiteln kap. anhang anhangs anlage anlagen artikel artikeln
artikels absatz absätze absätzen absatzes abs. unterabsatz ziffer ziffern ziff. nummer nummern satz sätze
randnummer randnummern randziffer rn rdnr rdn. rz.
chapitre chapitres chap. annexe annexes paragraphe paragraphes alinéa alinéas
sección secciones capítulo capítulos cap. anexo anexos apéndice artículo artículos párrafo párrafos apartado apartados
sezione sezioni capitolo capitoli allegato allegati appendice articolo articoli paragrafo paragrafi comma commi
seção seções secção secções apêndice artigo artigos parágrafo parágrafos
sectie secties paragraaf paragrafen hoofdstuk hoofdstukken bijlage bijlagen artikelen lid
rozdział rozdziału rozdziale załącznik załącznika załączniku artykuł artykułu ust pkt sekcja sekcji
avsnitt avsnittet bilaga bilagor artiklar
luvussa luvun liite liitteen liitteessä artikla artiklan
bölüm madde ek
раздел раздела разделе глава главы главе гл. приложение приложения приложении
статья статьи статье ст. пункт пункта пункте п.
"""

OTHER_PARTS = """
figure figures fig figs table tables tab. equation equations eq eqs eqn eqns theorem theorems thm lemma lemmas lemmata
corollary proposition propositions definition definitions algorithm algorithms page pages p. pp vol vols footnote
footnotes listing
abbildung abbildungen abb tabelle tabellen gleichung gleichungen gl. seite seiten
tableau tableaux équation équations théorème lemme algorithme
figura figuras tabla tablas cuadro cuadros ecuación ecuaciones teorema lema algoritmo página páginas pág págs
tabella tabelle equazione equazioni pagina pagine pag pagg
tabela tabelas quadro quadros equação equações
figuur figuren afbeelding afbeeldingen afb tabel tabellen vergelijking vergelijkingen blz stelling
rysunek rysunku rysunki rysunkach rys tabeli tabelach równanie równania równaniu strona strony stronie str. twierdzenie
figur figurer tabell tabeller ekvation ekvationer sida sidan sidor
kuva kuvan kuvat kuvassa kuvio kuviossa taulukko taulukon taulukot taulukossa yhtälö yhtälössä sivu sivulla sivut
şekil tablo çizelge denklem sayfa teorem algoritma
рисунок рисунка рисунке рисунки рис таблица таблицы таблице табл уравнение уравнения уравнении
страница страницы странице стр теорема теоремы лемма алгоритм
"""

# After a capitalised word they are part of a name: "Resolution No. 1325".
NUMBERS = "no. nos. nr nrs"

# "they march 12 miles" and "may 3 people" are no dates.
CAPITALISED_MONTHS = """
January February March April May June July August September October November December
Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec
Januar Jänner Februar März Mai Juni Juli Oktober Dezember
Ocak Şubat Mart Nisan Mayıs Haziran Temmuz Ağustos Eylül Ekim Kasım Aralık
"""

MONTHS = """
janvier février mars avril mai juin juillet août septembre octobre novembre décembre
enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre
gennaio febbraio aprile maggio giugno luglio settembre ottobre dicembre
janeiro fevereiro março maio junho julho setembro outubro novembro dezembro
januari februari maart april mei juni juli augustus september oktober november december maj augusti
stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia
tammikuuta helmikuuta maaliskuuta huhtikuuta toukokuuta kesäkuuta heinäkuuta elokuuta syyskuuta lokakuuta marraskuuta
joulukuuta tammikuussa helmikuussa maaliskuussa huhtikuussa toukokuussa kesäkuussa heinäkuussa elokuussa syyskuussa
lokakuussa marraskuussa joulukuussa
января февраля марта апреля мая июня июля августа сентября октября ноября декабря
январе феврале марте апреле мае июне июле августе сентябре октябре ноябре декабре
"""
