/* Within one document: its sections against each other. */
import { to } from "./addresses.js";
import { chooser } from "./chooser.js";
import { comparison } from "./comparison.js";
import { h } from "./dom.js";
import { intake } from "./intake.js";

export async function show(outlet, parameters, signal) {
  const id = parameters.document;
  if (id) {
    await comparison(outlet, {
      view: "within", path: "within/view", named: { document: id }, exported: { a: id, b: id }, parameters,
      title: (root) => root.querySelector("h1").textContent,
      ways: [h("a", { class: "button", href: to("search", { document: id }) }, "Search from it")],
    }, signal);
    return;
  }
  document.title = "Within · longmatch";
  outlet.append(h("main", { class: "view landing" },
    h("header", { class: "hero small" }, h("h1", {}, "Look within one document"),
      h("p", { class: "lead" }, "Which of its sections take each other up, and where it repeats itself.")),
    intake((upload) => { location.hash = to("within", { document: upload.upload }); }, "Look within", signal),
    h("section", { class: "collection", "aria-label": "The collection" },
      h("div", { class: "section-head" }, h("h2", {}, "Or one of the collection")),
      chooser((found) => to("within", { document: found.id }), signal))));
}
