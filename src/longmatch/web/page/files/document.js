/* One document to read, with the ways to go on from it. */
import { isUpload, to } from "./addresses.js";
import { ask, removeDocument } from "./api.js";
import { count, h, language } from "./dom.js";
import { pageMark } from "./pages.js";
import { empty, skeleton } from "./states.js";

export async function show(outlet, parameters, signal) {
  const main = h("main", { class: "view reader" }, skeleton(14));
  outlet.append(main);
  const found = await ask("document", { id: parameters.id ?? "" }, signal);
  document.title = `${found.title} · longmatch`;
  const sections = found.sections.filter((section) => section.heading || section.paragraphs.length);
  let last = 0;
  const places = sections.map((section) => textOf(section, beginsPage));
  const headings = sections.map((section, place) => [section, places[place]]).filter(([section]) => section.heading);
  main.replaceChildren(
    h("header", { class: "asked" },
      h("div", {}, h("h1", { dir: "auto" }, found.title || found.id),
        h("p", { class: "facts" }, `${count(found.words, "word")} · ${count(sections.length, "section")} · ${language(found.language)}`, isUpload(found.id) ? "" : ` · ${found.id}`)),
      h("div", { class: "ways" },
        h("a", { class: "button primary", href: to("search", { document: found.id }) }, "What belongs with it"),
        h("a", { class: "button", href: to("compare", { a: found.id }) }, "Compare with …"),
        h("a", { class: "button", href: to("within", { document: found.id }) }, "Its own sections"),
        found.removable ? removal(found) : null)),
    h("div", { class: "reader-body" },
      h("nav", { class: "contents", "aria-label": "Contents" }, headings.map(([section, place]) =>
        h("button", { type: "button", class: `level${Math.min(section.level, 4)}`, dir: "auto", onclick: () => place.scrollIntoView() }, section.heading))),
      h("article", { class: "text", lang: found.language },
        places.length ? places : empty("No text", "This document holds no text that could be read."))));

  const asked = places[sections.indexOf(found.sections[Number(parameters.section || -1)])];
  const look = () => asked?.scrollIntoView();
  look();
  requestAnimationFrame(() => requestAnimationFrame(look)); // sections that were seen now have their own heights

  /* The mark of a page before its first paragraph. */
  function beginsPage(page) {
    if (page === null || page <= last) return null;
    last = page;
    return h("div", { class: "page-start" }, pageMark(found, page));
  }
}

/* Removing a document that was added here, after a second look. */
function removal(found) {
  const said = h("span", { class: "removal-problem", role: "alert" });
  const button = h("button", { type: "button", class: "button quiet", onclick: async () => {
    if (!button.classList.contains("sure")) {
      button.classList.add("sure");
      button.textContent = found.removed_together > 1 ? `Remove all ${found.removed_together} documents of its file for everybody?` : "Remove it for everybody?";
      return;
    }
    try {
      await removeDocument(found.id);
      dispatchEvent(new Event("librarychange"));
      location.hash = to("search");
    } catch (error) {
      said.textContent = error.message;
    }
  } }, "Remove");
  return h("span", {}, button, said);
}

function textOf(section, mark) {
  const heading = section.heading ? h(`h${Math.min(section.level, 4) + 1}`, { dir: "auto" }, section.heading) : null;
  return h("section", {}, heading, section.paragraphs.flatMap((paragraph) =>
    [mark(paragraph.page), h("p", { dir: "auto", class: paragraph.kind, "data-note": paragraph.kind === "text" ? null : paragraph.kind }, paragraph.text)]));
}
