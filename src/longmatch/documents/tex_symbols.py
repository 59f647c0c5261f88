"""What LaTeX's commands stand for: letters, symbols, accents, and commands whose arguments are no text."""

_SYMBOLS = r"""
ss=ß ae=æ AE=Æ oe=œ OE=Œ aa=å AA=Å o=ø O=Ø l=ł L=Ł i=ı j=ȷ dh=ð DH=Ð th=þ TH=Þ S=§ P=¶ pounds=£ euro=€ copyright=©
textregistered=® texttrademark=™ textbackslash=\ textasciitilde=~ textasciicircum=^ textunderscore=_ textellipsis=…
ldots=… dots=… cdots=… dotsc=… textendash=– textemdash=— textquoteright=’ textquoteleft=‘ textquotedblleft=“
textquotedblright=” TeX=TeX LaTeX=LaTeX BibTeX=BibTeX textdegree=° degree=° leq=≤ le=≤ geq=≥ ge=≥ neq=≠ ne=≠ times=×
cdot=· in=∈ notin=∉ sum=∑ prod=∏ int=∫ infty=∞ to=→ rightarrow=→ leftarrow=← Rightarrow=⇒ Leftrightarrow=⇔
leftrightarrow=↔ mapsto=↦ approx=≈ sim=∼ simeq=≃ equiv=≡ propto=∝ pm=± mp=∓ partial=∂ nabla=∇ forall=∀ exists=∃ neg=¬
cup=∪ cap=∩ subset=⊂ subseteq=⊆ emptyset=∅ ell=ℓ prime=′ mid=| langle=⟨ rangle=⟩ lfloor=⌊ rfloor=⌋ lceil=⌈ rceil=⌉
circ=∘ otimes=⊗ oplus=⊕ star=⋆ wedge=∧ land=∧ vee=∨ lor=∨ ll=≪ gg=≫ perp=⊥ top=⊤ sqrt=√ setminus=∖ odot=⊙ dagger=†
ddagger=‡ bullet=• div=÷
"""
SYMBOLS: dict[str, str] = dict(pair.split("=") for pair in _SYMBOLS.split())

_ACCENTS = "' 0301 ` 0300 ^ 0302 \" 0308 ~ 0303 = 0304 . 0307 u 0306 v 030c H 030b c 0327 k 0328 r 030a d 0323 b 0331"
_MATH_ACCENTS = "hat 0302 tilde 0303 bar 0304 dot 0307 ddot 0308 vec 20d7 widehat 0302 widetilde 0303"


def _marks(pairs: str) -> dict[str, str]:
    words = pairs.split()
    return {name: chr(int(code, 16)) for name, code in zip(words[::2], words[1::2], strict=True)}


ACCENTS = _marks(_ACCENTS)  # command -> combining character
MATH_ACCENTS = _marks(_MATH_ACCENTS)

_OPERATORS = "log ln exp sin cos tan tanh max min arg argmax argmin lim sup inf det dim ker deg gcd Pr mod bmod"
OPERATORS = frozenset(_OPERATORS.split())

_DROPPED = {
    1: """label vspace hspace includegraphics color textcolor href index pagestyle thispagestyle bibliographystyle
    thanks hypersetup cline cmidrule rowcolor cellcolor scalebox author email affiliation institute date address
    keywords usepackage documentclass graphicspath pagenumbering raisebox parbox fontfamily selectlanguage
    addbibresource newtheorem theoremstyle captionsetup phantom hyphenation stepcounter refstepcounter setcopyright
    colorbox vskip hypertarget hyperlink bibliography printbibliography""",
    2: """setlength addtolength setcounter addtocounter fontsize multicolumn multirow rule resizebox fcolorbox
    addcontentsline newenvironment definecolor""",
}
DROPPED_ARGUMENTS = {name: count for count, names in _DROPPED.items() for name in names.split()}
"""How many of a command's arguments are no text."""
