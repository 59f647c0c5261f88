/* The frame around the views: the address decides which one is shown. */
import { read } from "./addresses.js";
import { ask, keepToken, Problem, takeToken } from "./api.js";
import { count, h } from "./dom.js";
import { failed } from "./states.js";
import * as add from "./add.js";
import * as compare from "./compare.js";
import * as document_ from "./document.js";
import * as map from "./map.js";
import * as search from "./search.js";
import * as within from "./within.js";

const VIEWS = { search, compare, within, map, add, document: document_ };
const outlet = document.querySelector("#view");
const scrolled = new Map(); // where a view stood when it was left, for the way back
let current = new AbortController();
let shown = location.hash;

async function show() {
  current.abort();
  current = new AbortController();
  const { signal } = current;
  const { view, parameters } = read();
  const chosen = VIEWS[view] ?? search;
  for (const link of document.querySelectorAll(".top nav a")) {
    const here = read(link.getAttribute("href")).view === view;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  globalThis.CSS?.highlights?.clear();
  document.title = "longmatch";
  outlet.replaceChildren();
  scrollTo(0, 0);
  const back = history.state?.seen === true; // the reader has come back to it
  history.replaceState({ seen: true }, "");
  try {
    await chosen.show(outlet, parameters, signal, back);
    if (back && !signal.aborted) scrollTo(0, scrolled.get(location.hash) ?? 0);
  } catch (error) {
    if (signal.aborted) return;
    if (error instanceof Problem && error.status === 401) askToken();
    else if (error instanceof Problem) outlet.replaceChildren(h("main", { class: "view" }, failed(error, show)));
    else throw error;
  }
}

function askToken() {
  const field = h("input", { type: "password", class: "field", autocomplete: "off", "aria-label": "Token", required: true });
  const form = h("form", { class: "state token", onsubmit: (event) => {
    event.preventDefault();
    keepToken(field.value.trim());
    start();
  } }, h("p", { class: "state-title" }, "This server asks for a token"),
    h("p", { class: "advice" }, "longmatch serve has printed it where it was started. Paste it here."),
    h("div", { class: "ways" }, field, h("button", { class: "button primary" }, "Open")));
  outlet.replaceChildren(h("main", { class: "view" }, form));
  field.focus();
}

async function nameLibrary() {
  const facts = await ask("library").catch(() => null);
  if (!facts) return;
  const line = document.querySelector(".library-name");
  line.replaceChildren(h("b", { dir: "auto" }, facts.name), ` ${count(facts.documents, "document")}`);
  document.querySelector(".only-writable").hidden = !facts.writable;
}

addEventListener("librarychange", nameLibrary);
addEventListener("hashchange", (event) => {
  if (location.hash === "#view") { // the link that skips the head
    history.replaceState({ seen: true }, "", shown);
    outlet.focus();
    return;
  }
  scrolled.set(new URL(event.oldURL).hash, scrollY);
  shown = location.hash;
  show();
});
for (const kind of ["dragover", "drop"]) {
  addEventListener(kind, (event) => event.preventDefault()); // a file dropped beside its place must not replace the page
}

function start() {
  nameLibrary();
  show();
}
history.scrollRestoration = "manual";
takeToken();
start();
