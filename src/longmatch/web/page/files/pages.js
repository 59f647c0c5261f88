/* Pages of a document: their numbers beside the text, and the pages themselves where the file is a PDF. */
import { askPicture } from "./api.js";
import { h } from "./dom.js";

/* "p. 7", and where the document's pages can be shown, a button that shows it with the passage highlighted. */
export function pageMark(found, page, { start, end } = {}) {
  if (page === null) return null;
  if (!found.shows_pages) return h("span", { class: "page" }, `p. ${page}`);
  return pageButton({ id: found.id, page, start, end });
}

/* The marks in a comparison that the server rendered: those that name a document become buttons. */
export function openMarks(root) {
  for (const mark of root.querySelectorAll(".page[data-document]")) {
    const { document: id, page, start, end } = mark.dataset;
    mark.replaceWith(pageButton({ id, page: Number(page), start, end }));
  }
}

const pageButton = (place) => h("button", {
  type: "button", class: "page", title: `Show page ${place.page} of the PDF`, "aria-label": `Show page ${place.page} of the PDF`,
  onclick: (event) => { event.stopPropagation(); showPage(place); },
}, `p. ${place.page}`);

/* The page in front of all else; the arrows turn the leaves, Escape closes. The passage is looked for on its own page. */
function showPage({ id, page, start, end }) {
  const own = page;
  let shown = page, pages = Infinity, running = new AbortController();
  const place = h("output", { class: "page-place" });
  const sheet = h("div", { class: "sheet", tabindex: "0", role: "group", "aria-label": "The page" });
  const before = turn("←", "Previous page", -1), after = turn("→", "Next page", 1);
  const close = h("button", { type: "button", class: "button quiet", onclick: () => dialog.close() }, "Close");
  const dialog = h("dialog", { class: "page-view", "aria-label": `Pages of ${id}` },
    h("header", {}, h("p", { class: "page-name", dir: "auto" }, id), before, place, after, close), sheet);
  dialog.addEventListener("close", () => { running.abort(); dialog.remove(); });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowLeft") go(-1);
    if (event.key === "ArrowRight") go(1);
  });
  addEventListener("hashchange", () => dialog.close(), { once: true, signal: running.signal });
  document.body.append(dialog);
  dialog.showModal();
  load();

  function turn(sign, name, by) {
    return h("button", { type: "button", class: "button quiet", "aria-label": name, onclick: () => go(by) }, sign);
  }
  function go(by) {
    const next = Math.min(Math.max(shown + by, 1), pages);
    if (next === shown) return;
    shown = next;
    load();
  }
  async function load() {
    running.abort();
    running = new AbortController();
    place.textContent = `Page ${shown}` + (pages < Infinity ? ` of ${pages}` : "");
    sheet.setAttribute("aria-busy", "true");
    const passage = shown === own ? { start, end } : {};
    try {
      const picture = await askPicture("document/page", { id, page: shown, ...passage }, running.signal);
      pages = picture.pages;
      place.textContent = `Page ${shown} of ${pages}`;
      sheet.replaceChildren(h("img", { src: picture.address, alt: `Page ${shown} of ${id}` }));
    } catch (error) {
      if (error.name === "AbortError") return;
      sheet.replaceChildren(h("p", { class: "page-problem", role: "alert", dir: "auto" }, error.message));
    }
    sheet.removeAttribute("aria-busy");
    before.disabled = shown <= 1;
    after.disabled = shown >= pages;
  }
}
