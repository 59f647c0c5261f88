/* One document found: its place, how likely it belongs where that can be known, and the passages that say so. */
import { to } from "./addresses.js";
import { chance, count, h, language, svg, withWords } from "./dom.js";
import { pageMark } from "./pages.js";

export function hitCard(query, hit, place, total) {
  const compare = to("compare", { a: query.id, b: hit.id });
  const [first, ...others] = hit.why;
  return h("li", { class: "card hit", "data-id": hit.id },
    h("div", { class: "hit-score" },
      h("span", { class: "number" }, String(place)),
      ...(hit.probability === null
        ? [bar("bar order", (total - place + 1) / total, `Place ${place} of ${total}`)]
        : [bar("bar", hit.probability, `Probability ${chance(hit.probability)}`),
          h("span", { class: "likely" }, `${hit.verdict} (${chance(hit.probability)})`)])),
    h("div", { class: "hit-body" },
      h("header", { class: "hit-head" },
        h("div", {},
          hit.relation === "copy" ? h("p", { class: "eyebrow" }, "A copy of it") : null,
          h("h2", { dir: "auto" }, h("a", { href: compare }, hit.title || hit.id)),
          h("p", { class: "facts" }, `${count(hit.words, "word")} · ${language(hit.language)} · `, h("span", { class: "id", dir: "auto" }, hit.id))),
        h("div", { class: "ways" },
          h("a", { class: "button quiet", href: to("document", { id: hit.id }) }, "Read"),
          h("a", { class: "button quiet", href: to("search", { document: hit.id }) }, "Search from it"),
          h("a", { class: "button primary", href: compare }, "See why"))),
      first ? pairOf(first, query, hit) : h("p", { class: "nothing" }, "No single passage stands out."),
      others.length ? h("details", { class: "more-pairs" }, h("summary", {}, count(others.length, "more passage")), others.map((pair) => pairOf(pair, query, hit))) : null));
}

/* A section that answers a question: where it stands, and the sentence that answers in its paragraph. */
export function sectionCard(hit, place) {
  const text = hit.paragraph.replace(/\s+/g, " ").trim(), said = hit.passage.text.replace(/\s+/g, " ").trim();
  const at = text.indexOf(said);
  const quoted = at < 0 ? [h("b", {}, said)] : [text.slice(0, at), h("b", {}, said), text.slice(at + said.length)];
  return h("li", { class: "card section-hit", "data-id": hit.id },
    h("header", { class: "hit-head" },
      h("div", {},
        h("h2", { dir: "auto" }, h("span", { class: "rank" }, String(place)), " ", [...hit.parents, hit.section].join(" › ")),
        h("p", { class: "facts", dir: "auto" }, hit.title || hit.id, " · ", h("span", { class: "id" }, hit.id), " ", pageMark(hit, hit.passage.page, hit.passage))),
      h("div", { class: "ways" },
        h("a", { class: "button quiet", href: to("document", { id: hit.id, section: hit.number }) }, "Read it there"))),
    h("blockquote", {}, h("p", { dir: "auto", lang: hit.language }, quoted)));
}

/* The library's own entry of an upload: no hit, but a way to it. */
export function sameCard(query, same) {
  const compare = to("compare", { a: same.id, b: query.id });
  return h("li", { class: "card same", "data-id": same.id },
    h("div", {},
      h("p", { class: "eyebrow" }, same.relation === "copy" ? "The same document" : "Another version of it"),
      h("h2", { dir: "auto" }, h("a", { href: to("document", { id: same.id }) }, same.title || same.id)),
      h("p", { class: "facts" }, `${count(same.words, "word")} · ${language(same.language)} · `, h("span", { class: "id", dir: "auto" }, same.id))),
    h("div", { class: "ways" },
      h("a", { class: "button quiet", href: to("document", { id: same.id }) }, "Read"),
      h("a", { class: "button quiet", href: to("search", { document: same.id }) }, "Search from it"),
      h("a", { class: "button", href: compare }, same.relation === "copy" ? "Compare" : "See the changes")));
}

/* A bar of a probability, or of a place in the order, which looks otherwise. */
function bar(kind, share, label) {
  return svg("svg", { class: kind, viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": label },
    svg("rect", { class: "track", width: 100, height: 6 }), svg("rect", { class: "fill", width: (share * 100).toFixed(1), height: 6 }));
}

function pairOf(pair, query, hit) {
  const kind = pair.paraphrase ? "Same meaning, other words" : pair.kind === "keyword" ? "Same words" : "Same meaning";
  return h("div", { class: "pair" },
    h("p", { class: "pair-head" }, h("span", { class: `kind ${pair.kind}` }, kind), h("span", {}, `${share(pair.contribution)} of the match`)),
    h("div", { class: "quotes" }, quote(pair.a, pair.words, "Asked", query), quote(pair.b, pair.words, "Found", hit)));
}

const quote = (passage, words, side, found) => h("blockquote", {},
  h("cite", { dir: "auto" }, h("span", { class: "whose" }, side), passage.section || "(no heading)", " ", pageMark(found, passage.page, passage)),
  h("p", { dir: "auto" }, withWords(passage.text, words)));
