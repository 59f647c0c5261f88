/* The documents of the collection, to search, sort and choose from. */
import { ask } from "./api.js";
import { count, h, language, number } from "./dom.js";
import { empty, failed, skeleton } from "./states.js";

const SORTS = { "": "Best first", title: "By title", "words-descending": "Longest first", words: "Shortest first", id: "By name" };

/* `address(document)` is where choosing one leads. */
export function chooser(address, signal, { size = 24, label = "Search this collection" } = {}) {
  const field = h("input", { type: "search", class: "field", placeholder: label, "aria-label": label, autocomplete: "off", spellcheck: "false" });
  const sort = h("select", { class: "field", "aria-label": "Order" },
    Object.entries(SORTS).map(([value, name]) => h("option", { value }, name)));
  const list = h("ul", { class: "documents" });
  const foot = h("div", { class: "list-foot" });
  const summary = h("p", { class: "hint", role: "status" });
  let turn = 0, shown = 0, touched = false;
  sort.value = "title";

  async function load(more = false) {
    const mine = ++turn;
    const [by, order] = sort.value.split("-");
    if (!more) shown = 0;
    if (!more && !list.children.length) foot.replaceChildren(skeleton(6));
    try {
      const found = await ask("documents", { search: field.value.trim(), sort: by, order, offset: shown, limit: size }, signal);
      if (mine !== turn) return;
      const rows = found.documents.map(row);
      if (more) list.append(...rows);
      else list.replaceChildren(...rows);
      shown += rows.length;
      tell(found.total);
    } catch (error) {
      if (error.name !== "AbortError" && mine === turn) foot.replaceChildren(failed(error, () => load(more)));
    }
  }
  function tell(total) {
    const asked = field.value.trim();
    summary.textContent = total ? count(total, "document") : "";
    if (!total && asked) foot.replaceChildren(empty("Nothing found", "No title, name or text has these words. Try fewer or other ones."));
    else if (!total) foot.replaceChildren(empty("This library is empty", "Add documents, then open this page again:", h("code", {}, "longmatch index LIBRARY FILES")));
    else if (shown < total) foot.replaceChildren(h("button", { type: "button", class: "button quiet", onclick: () => load(true) }, `Show more (${number(total - shown)} left)`));
    else foot.replaceChildren();
  }
  const facts = ({ id, title, words, language: code }) =>
    [title && title !== id ? id : "", count(words, "word"), language(code)].filter(Boolean).join(" · ");
  const row = (document) => h("li", {}, h("a", { class: "document", href: address(document) },
    h("span", { class: "document-title", dir: "auto" }, document.title || document.id),
    h("span", { class: "facts" }, facts(document))));

  let wait;
  field.addEventListener("input", () => {
    if (!touched) sort.value = field.value.trim() ? "" : "title"; // what is searched comes best first
    clearTimeout(wait);
    wait = setTimeout(() => load(), 160);
  });
  sort.addEventListener("change", () => { touched = true; load(); });
  field.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") { event.preventDefault(); list.querySelector("a")?.focus(); }
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = event.target.closest("li")[step];
    (next ? next.querySelector("a") : event.key === "ArrowUp" ? field : event.target).focus();
  });
  load();
  return h("div", { class: "chooser" }, h("div", { class: "chooser-head" }, field, sort, summary), list, foot);
}
