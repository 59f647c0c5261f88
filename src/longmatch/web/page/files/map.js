/* The map: the collection in two dimensions. Colour and shape tell clusters apart, their words stand on them. */
import { to } from "./addresses.js";
import { ask } from "./api.js";
import { count, h, number, svg } from "./dom.js";
import { mapLabels } from "./labels.js";
import { marker, mountPanning } from "./panning.js";
import { empty, skeleton, working } from "./states.js";

export async function show(outlet, parameters, signal) {
  document.title = "Map · longmatch";
  const main = h("main", { class: "view map-view" }, working("Drawing the map").box, skeleton(8));
  outlet.append(main);
  const { points, clusters, total } = await ask("map", {}, signal);
  if (!points.length) {
    main.replaceChildren(empty("There is nothing to map yet", "Add documents, then open this page again:", h("code", {}, "longmatch index LIBRARY FILES")));
    return;
  }
  const sample = total > points.length ? `A sample of ${number(points.length)} of ${count(total, "document")}.` : `${count(total, "document")}.`;
  const find = h("input", { type: "search", class: "field", placeholder: "Find on the map", "aria-label": "Find on the map" });
  const box = h("div", { class: "map-box" });
  const legend = h("ul", { class: "legend-list" });
  const tip = h("div", { class: "tip", role: "tooltip", hidden: true });
  main.replaceChildren(
    h("header", { class: "map-head" }, h("div", {}, h("h1", {}, "The collection on a map"),
      h("p", { class: "hint" }, `${sample} What lies close says much the same. Choose a document to open it.`)), find),
    h("div", { class: "map-body" }, box, h("aside", { "aria-label": "Clusters" }, legend)), tip);

  const words = new Map(clusters.map((cluster) => [cluster.number, cluster.words.slice(0, 3).join(", ")]));
  const marks = points.map((point) => {
    const link = svg("a", { class: `point c${point.cluster % 8}`, href: to("document", { id: point.id }), tabindex: -1, "aria-label": point.title, "data-id": point.id },
      marker(point.cluster));
    return Object.assign(link, { point });
  });
  const written = mapLabels(clusters, marks);
  const picture = svg("svg", { class: points.length < 200 ? "map few" : "map", role: "group", "aria-label": "Map of the collection; arrow keys move, Enter opens" },
    written.behind, svg("g", {}, marks), written.above);
  box.append(picture);
  const place = mountPanning(box, picture, marks, written.place, signal);

  let only = null; // the cluster chosen in the legend
  function dim() {
    const wanted = find.value.trim().toLowerCase();
    for (const mark of marks) {
      const out = (only !== null && mark.point.cluster !== only) || (wanted && !mark.point.title.toLowerCase().includes(wanted));
      mark.classList.toggle("dim", Boolean(out));
    }
    for (const label of written.labels) label.classList.toggle("dim", only !== null && label.cluster.number !== only);
    place();
  }
  find.addEventListener("input", dim);

  function point(event) {
    const mark = event.target.closest(".point");
    tip.hidden = !mark;
    if (!mark) return;
    tip.replaceChildren(h("b", { dir: "auto" }, mark.point.title), h("span", {}, words.get(mark.point.cluster) ?? ""));
    const at = mark.getBoundingClientRect(), size = tip.getBoundingClientRect();
    const fits = at.right + 8 + size.width < box.getBoundingClientRect().right;
    tip.style.left = Math.max(8, fits ? at.right + 8 : at.left - 8 - size.width) + "px";
    tip.style.top = Math.max(8, Math.min(at.bottom + 6, innerHeight - size.height - 8)) + "px";
  }
  picture.addEventListener("pointerover", point);
  picture.addEventListener("focusin", point);
  picture.addEventListener("pointerleave", () => { tip.hidden = true; });
  picture.addEventListener("focusout", () => { tip.hidden = true; });

  legend.append(...clusters.map((cluster) => {
    const own = points.filter((each) => each.cluster === cluster.number).sort((x, y) => x.title.localeCompare(y.title));
    const documents = h("ul", { class: "cluster-documents", hidden: true }, own.slice(0, 100).map((each) =>
      h("li", {}, h("a", { href: to("document", { id: each.id }), dir: "auto" }, each.title))));
    const button = h("button", { type: "button", class: "cluster", "aria-expanded": "false", onclick: () => {
      only = only === cluster.number ? null : cluster.number;
      for (const each of legend.querySelectorAll(".cluster")) {
        const on = only !== null && each === button;
        each.setAttribute("aria-expanded", String(on));
        each.nextElementSibling.hidden = !on;
      }
      dim();
    } },
      svg("svg", { class: `swatch-mark c${cluster.number % 8}`, viewBox: "-9 -9 18 18", "aria-hidden": "true" }, marker(cluster.number)),
      h("span", { class: "cluster-words", dir: "auto" }, cluster.words.slice(0, 5).join(", ") || "(no words)"),
      h("span", { class: "hint" }, number(cluster.size)));
    return h("li", {}, button, documents);
  }));
}
