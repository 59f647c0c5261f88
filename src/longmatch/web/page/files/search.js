/* Search: from a file, a text or a document of the collection to those that belong with it. */
import { isUpload, settle, to } from "./addresses.js";
import { rank } from "./api.js";
import { chooser } from "./chooser.js";
import { count, h, language } from "./dom.js";
import { hitCard, sameCard, sectionCard } from "./hits.js";
import { intake } from "./intake.js";
import { empty, failed, skeleton, working } from "./states.js";

const SORTS = { best: "Best first", title: "By title", longest: "Longest first", shortest: "Shortest first" };
const STEPS = [10, 25, 50, 100, 200];
const kept = new Map(); // rankings of this visit, so that the way back from a comparison is quick

export async function show(outlet, parameters, signal, back) {
  if (!parameters.document) return landing(outlet, signal);
  return results(outlet, parameters, signal, back);
}

function landing(outlet, signal) {
  document.title = "Search · longmatch";
  const ready = (upload) => { location.hash = to("search", { document: upload.upload }); };
  outlet.append(h("main", { class: "view landing" },
    h("header", { class: "hero" },
      h("h1", {}, "Find the documents that belong together"),
      h("p", { class: "lead" }, "Start from a file, a text, or a document of this collection. Nothing leaves this computer.")),
    intake(ready, "Search", signal),
    h("section", { class: "collection", "aria-label": "The collection" },
      h("div", { class: "section-head" }, h("h2", {}, "Or start from the collection")),
      chooser((found) => to("search", { document: found.id }), signal))));
}

async function results(outlet, parameters, signal, back) {
  const main = h("main", { class: "view results" });
  outlet.append(main);
  const question = {
    document: parameters.document,
    k: Number(parameters.k) || STEPS[0],
    ...(parameters.where ? { where: parameters.where } : {}),
    ...(parameters.by ? { by: parameters.by } : {}),
    ...(parameters.deep ? { deep: true } : {}),
  };
  const key = JSON.stringify(question);
  let ranking = back ? kept.get(key) : undefined;
  if (!ranking) {
    const { box, tell } = working("Searching", () => { location.hash = to("search"); });
    main.replaceChildren(box, skeleton(8));
    try {
      ranking = await rank(question, tell, signal);
    } catch (error) {
      if (signal.aborted || error.status === 401) throw error;
      main.replaceChildren(failed(error, isUpload(parameters.document) ? null : () => location.reload(),
        parameters.where ? h("a", { class: "button", href: to("search", { ...parameters, where: "" }) }, "Search without the condition") : null,
        h("a", { class: "button", href: to("search") }, "New search")));
      return;
    }
    kept.set(key, ranking);
    if (kept.size > 12) kept.delete(kept.keys().next().value);
  }
  document.title = `${ranking.query.title} · longmatch`;
  main.replaceChildren(asked(ranking.query, ranking.sections.length > 0), ...found(ranking, parameters, question.k));
}

/* What was asked with. */
function asked(query, question) {
  const mine = isUpload(query.id);
  return h("header", { class: "asked" },
    h("div", {},
      h("p", { class: "eyebrow" }, question ? "Your question" : mine ? "Documents that belong with your upload" : "Documents that belong with"),
      h("h1", { dir: "auto" }, query.title || query.id),
      h("p", { class: "facts" }, `${count(query.words, "word")} · ${language(query.language)}`, mine ? " · held in memory until the server ends" : ` · ${query.id}`)),
    h("div", { class: "ways" },
      h("a", { class: "button", href: to("document", { id: query.id }) }, "Read it"),
      h("a", { class: "button", href: to("within", { document: query.id }) }, "Its own sections"),
      h("a", { class: "button", href: to("search") }, "New search")));
}

/* The hits, with what filters and sorts them. */
function found(ranking, parameters, k) {
  const hits = ranking.hits;
  const list = h("ol", { class: "cards hits" });
  const summary = h("p", { class: "hint", role: "status" });
  const cards = new Map(hits.map((hit, place) => [hit, hitCard(ranking.query, hit, place + 1, hits.length)]));
  const filter = h("input", { type: "search", class: "field", placeholder: "Filter these results", "aria-label": "Filter these results", value: parameters.filter ?? "" });
  const languages = [...new Set(hits.map((hit) => hit.language))].sort();
  const tongue = h("select", { class: "field", "aria-label": "Language" }, h("option", { value: "" }, "All languages"),
    languages.map((code) => h("option", { value: code }, language(code))));
  const sort = h("select", { class: "field", "aria-label": "Order" }, Object.entries(SORTS).map(([value, name]) => h("option", { value }, name)));
  tongue.value = languages.includes(parameters.language) ? parameters.language : "";
  sort.value = parameters.sort in SORTS ? parameters.sort : "best";

  const orders = {
    best: (x, y) => hits.indexOf(x) - hits.indexOf(y),
    title: (x, y) => x.title.localeCompare(y.title),
    longest: (x, y) => y.words - x.words,
    shortest: (x, y) => x.words - y.words,
  };
  function arrange() {
    const wanted = filter.value.trim().toLowerCase();
    const texts = (hit) => [hit.title, hit.id, ...hit.why.flatMap((pair) => [pair.b.text, pair.b.section])];
    const left = hits.filter((hit) => (!tongue.value || hit.language === tongue.value)
      && (!wanted || texts(hit).some((text) => text.toLowerCase().includes(wanted))));
    list.replaceChildren(...left.sort(orders[sort.value]).map((hit) => cards.get(hit)));
    summary.textContent = left.length === hits.length ? `The best ${hits.length} of ${count(ranking.documents, "document")}` : `${left.length} of ${hits.length} shown`;
    if (!left.length && hits.length) list.append(h("li", {}, empty("No result fits the filter", "Take a word away, or show all languages.")));
    settle("search", { ...parameters, filter: filter.value.trim(), language: tongue.value, sort: sort.value === "best" ? "" : sort.value });
  }
  for (const control of [filter, tongue, sort]) control.addEventListener("input", arrange);

  const bar = h("div", { class: "bar-of-tools" }, summary, filter, languages.length > 1 ? tongue : null, sort, asking(parameters));
  const remarks = ranking.remarks.map((sentence) => h("p", { class: "notice", dir: "auto" }, sentence));
  const sections = ranking.sections.length ? [
    h("h2", { class: "part" }, "The closest sections",
      ranking.deeper ? h("a", { class: "button deeper", href: to("search", { ...parameters, deep: 1 }) }, "Read them more deeply") : null),
    h("ol", { class: "cards sections" }, ranking.sections.map((hit, place) => sectionCard(hit, place + 1))),
    h("h2", { class: "part" }, "Documents")] : [];
  const same = ranking.same.length ? [h("ul", { class: "cards same-list" }, ranking.same.map((each) => sameCard(ranking.query, each)))] : [];
  if (!hits.length) {
    return [bar, ...remarks, ...same, empty("Nothing found", parameters.where ? "No document fulfils the condition." : "The library holds no other document.")];
  }
  arrange();
  const next = STEPS.find((step) => step > k);
  const more = next && hits.length >= k && ranking.documents > k
    ? h("div", { class: "list-foot" }, h("a", { class: "button", href: to("search", { ...parameters, k: next }) }, `Show the best ${next}`)) : null;
  return [...(sections.length ? [...remarks, ...sections, bar] : [bar, ...remarks]), ...same, list, ...(more ? [more] : [])];
}

/* What needs another request: the score, and a condition on the documents. */
function asking(parameters) {
  const by = h("select", { class: "field", "aria-label": "Score" },
    h("option", { value: "" }, "By words and meaning"), h("option", { value: "sdr" }, "By sentences (SDR)"));
  by.value = parameters.by === "sdr" ? "sdr" : "";
  const where = h("input", { class: "field", placeholder: "words > 1000 AND language = 'en'", "aria-label": "Condition", value: parameters.where ?? "", spellcheck: "false" });
  const form = h("form", { class: "more-form", onsubmit: (event) => {
    event.preventDefault();
    location.hash = to("search", { ...parameters, by: by.value, where: where.value.trim() });
  } }, h("label", {}, "Score", by), h("label", {}, "Only documents where", where), h("button", { class: "button primary" }, "Apply"));
  return h("details", { class: "more", open: Boolean(parameters.where) }, h("summary", { class: "button" }, "More"), form);
}
