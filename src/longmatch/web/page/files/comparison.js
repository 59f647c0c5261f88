/* What Compare and Within share: the rendered comparison, the switches of level and model, and the ways out. */
import { settle, to } from "./addresses.js";
import { ask, askText, download, Problem } from "./api.js";
import { h, rendered } from "./dom.js";
import { openMarks } from "./pages.js";
import { failed, skeleton, working } from "./states.js";

const LEVELS = { sections: "Sections", chunks: "Passages", sentences: "Sentences" };

/* `path` is the server's view, `named` the documents in its parameters, `exported` those of the export. */
export async function comparison(outlet, { view, path, named, exported, parameters, ways, title }, signal) {
  const model = parameters.model ?? "";
  let level = parameters.level in LEVELS ? parameters.level : "sections";
  const wait = working(view === "within" ? "Comparing its sections" : "Comparing the two documents");
  const waiting = h("main", { class: "view" }, wait.box, skeleton(10));
  outlet.replaceChildren(waiting);
  const slow = setTimeout(() => wait.tell("Still reading: the first comparison of long documents takes some seconds"), 3000);
  let html, models;
  try {
    [html, models] = await Promise.all([askText(path, { ...named, level, model }, signal), ask("models", {}, signal)]);
  } catch (error) {
    if (signal.aborted || !(error instanceof Problem) || error.status === 401) throw error;
    outlet.replaceChildren(h("main", { class: "view" }, failed(error, () => comparison(outlet, { view, path, named, exported, parameters, ways, title }, signal),
      h("a", { class: "button", href: `#/${view}` }, "Choose other documents"))));
    return;
  } finally {
    clearTimeout(slow);
  }
  const [root] = rendered(html);
  openMarks(root);
  const message = h("p", { class: "hint said", role: "status" });
  const head = h("section", { class: "compare-bar", "aria-label": "This comparison" }, levels(), view === "within" ? null : modelChoice(), message, h("div", { class: "ways" }, ...ways, copy(), save("html", "HTML"), save("json", "JSON"), view === "within" ? null : save("redline", "Changes", "What changed from A to B, word by word, as one page")));
  outlet.replaceChildren(head, root);
  const replaceMatrix = mountMatch(root, signal);
  document.title = `${title(root)} · longmatch`;
  performance.mark("comparison-ready");

  function levels() {
    const options = Object.entries(LEVELS).map(([value, name]) => h("label", {},
      h("input", { type: "radio", name: "level", value, checked: value === level }), h("span", {}, name)));
    return h("fieldset", { class: "choice", onchange: (event) => change(event.target.value) }, h("legend", {}, "Level"), options);
  }
  async function change(chosen) {
    const section = root.querySelector(".sections");
    section.setAttribute("aria-busy", "true");
    say("");
    try {
      const [matrix, data] = rendered(await askText(path, { ...named, level: chosen, model, part: "matrix" }, signal));
      replaceMatrix(matrix, JSON.parse(data.textContent));
      level = chosen;
      settle(view, { ...parameters, ...named, level: level === "sections" ? "" : level });
    } catch (error) {
      if (signal.aborted) return;
      section.removeAttribute("aria-busy");
      head.querySelector(`input[value="${level}"]`).checked = true;
      say(error.message);
    }
  }
  function modelChoice() {
    const options = models.models.map((each) => h("option", { value: each.name === "default" ? "" : each.name, title: each.description }, each.name === "default" ? "Default: words and meaning" : `${each.name}: ${each.description}`));
    const select = h("select", { class: "field", "aria-label": "Model", onchange: () => {
      location.hash = to(view, { ...parameters, ...named, level: level === "sections" ? "" : level, model: select.value });
    } }, options);
    select.value = model;
    return h("label", { class: "model" }, h("span", {}, "Model"), select);
  }
  function copy() {
    return h("button", { type: "button", class: "button", onclick: async () => {
      try {
        await navigator.clipboard.writeText(location.href);
        say("The address of this comparison is copied.");
      } catch {
        say("The browser does not let this page copy. Take the address from the address bar.");
      }
    } }, "Copy address");
  }
  function save(format, name, hint = `Save this comparison as ${name}`) {
    return h("button", { type: "button", class: "button", title: hint, onclick: async () => {
      try {
        await download("compare/export", { ...exported, model, format }, format === "redline" ? "changes.html" : `comparison.${format}`);
        say(format === "redline" ? "The changes are saved as a page." : `Saved as ${name}.`);
      } catch (error) {
        say(error.message);
      }
    } }, name);
  }
  function say(words) { message.textContent = words; }
}
