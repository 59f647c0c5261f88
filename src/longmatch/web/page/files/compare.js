/* Compare: two documents side by side. */
import { to } from "./addresses.js";
import { chooser } from "./chooser.js";
import { comparison } from "./comparison.js";
import { h } from "./dom.js";
import { ask } from "./api.js";
import { intake } from "./intake.js";

export async function show(outlet, parameters, signal) {
  const { a, b } = parameters;
  if (!a || !b) return choose(outlet, parameters, signal);
  const named = { a, b };
  const other = { ...parameters, a: b, b: a };
  const titles = (root) => [...root.querySelectorAll("h1")].map((title) => title.textContent).join(" and ");
  await comparison(outlet, {
    view: "compare", path: "compare/view", named, exported: named, parameters, title: titles,
    ways: [
      h("a", { class: "button", href: to("search", { document: a }), title: "What else belongs with A" }, "More like A"),
      h("a", { class: "button", href: to("compare", other) }, "Swap"),
    ],
  }, signal);
}

/* Two places, each for a document of the collection, a file or a text. */
async function choose(outlet, parameters, signal) {
  document.title = "Compare · longmatch";
  const slots = ["a", "b"].map((side) => {
    const place = h("section", { class: "slot", "aria-label": `Document ${side.toUpperCase()}` });
    return [side, place];
  });
  outlet.append(h("main", { class: "view" },
    h("header", { class: "hero small" }, h("h1", {}, "Compare two documents"),
      h("p", { class: "lead" }, "See what they have in common, section by section and passage by passage.")),
    h("div", { class: "slots" }, slots.map(([, place]) => place))));
  for (const [side, place] of slots) {
    const head = (title) => h("div", { class: "slot-head" }, h("span", { class: "side" }, side.toUpperCase()), h("h2", { dir: "auto" }, title));
    const address = (id) => to("compare", { ...parameters, [side]: id });
    if (parameters[side]) {
      const chosen = await ask("document", { id: parameters[side] }, signal);
      place.classList.add("filled");
      place.append(head(chosen.title || chosen.id), h("a", { class: "button quiet", href: address("") }, "Choose another"));
    } else {
      place.append(head(side === "a" ? "The first" : "The second"),
        intake((upload) => { location.hash = address(upload.upload); }, "Take it", signal),
        chooser((found) => address(found.id), signal, { size: 12 }));
    }
  }
}
