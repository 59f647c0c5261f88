/* What is written on the map: the words of each cluster on its documents, and the titles for which there is room. */
import { svg } from "./dom.js";

const NARROW = 560; // pixels of a small screen
const TITLES = 60, CROWD = 250; // titles at a time; documents in view from which there is no room for any
const DENSE = 1000; // documents in view from which words lie on some anyway
const HEIGHT = 14; // pixels of a line
const pen = document.createElement("canvas").getContext("2d");

/* Regions and labels of clusters, and titles of documents, for marks that have a place on the screen. */
export function mapLabels(clusters, marks) {
  const groups = clusters.map((cluster) => ({
    cluster,
    marks: marks.filter((mark) => mark.point.cluster === cluster.number),
    region: svg("path", { class: `map-region c${cluster.number % 8}` }),
    label: svg("text", { class: `map-label c${cluster.number % 8}` }),
  }));
  const titles = svg("g", { class: "map-titles" });
  const behind = svg("g", { "aria-hidden": "true" }, marks.length < CROWD ? groups.map((group) => group.region) : []);
  const above = svg("g", { class: "map-labels", "aria-hidden": "true" }, titles, groups.map((group) => group.label));

  /* `at` has the place of each mark in a box of that size. */
  function place(at, width, height) {
    const inView = new Set(marks.filter((mark) => inside(around(at.get(mark), 0), width, height)));
    const taken = inView.size < DENSE ? [...inView].map((mark) => around(at.get(mark), 8)) : [];
    for (const group of groups) {
      if (marks.length < CROWD) group.region.setAttribute("d", outline(group.marks.map((mark) => at.get(mark))));
      placeCluster(group, group.marks.filter((mark) => inView.has(mark)).map((mark) => at.get(mark)), taken, width, height);
    }
    const bright = [...inView].filter((mark) => !mark.classList.contains("dim"));
    titles.replaceChildren(...(bright.length < CROWD ? placeTitles(bright, at, taken, width, height) : []));
  }
  return { behind, above, place, labels: groups.map((group) => Object.assign(group.label, { cluster: group.cluster })) };
}

/* A cluster's words in the middle of its documents in view, or as near as they cover least. */
function placeCluster({ cluster, label }, own, taken, width, height) {
  label.textContent = own.length ? cluster.words.slice(0, width < NARROW ? 2 : 3).join(", ") : "";
  if (!own.length) return;
  const half = textWidth(label.textContent, "600 13px") / 2;
  const [x0, y0] = middle(own);
  let best = null, least = Infinity;
  for (const dy of [0, -16, 16, -32, 32, -48, 48, -64, 64]) {
    for (const dx of [0, -30, 30, -60, 60]) {
      const x = Math.max(half + 6, Math.min(x0 + dx, width - half - 6)), y = Math.max(HEIGHT, Math.min(y0 + dy, height - 8));
      const box = lineAt(x - half, y, 2 * half);
      const cost = 80 * taken.filter((other) => overlap(box, other)).length + Math.hypot(x - x0, y - y0);
      if (cost < least) [best, least] = [{ x, y, box }, cost];
    }
  }
  taken.push(best.box);
  label.setAttribute("x", best.x.toFixed(1));
  label.setAttribute("y", (best.y + 4).toFixed(1));
}

/* Titles beside their marks, those of lonely documents first; one that finds no free place is left to pointing. */
function placeTitles(marks, at, taken, width, height) {
  const found = [];
  const crowding = new Map(marks.map((mark) => [mark, neighbours(at.get(mark), marks, at)]));
  for (const mark of [...marks].sort((a, b) => crowding.get(a) - crowding.get(b))) {
    if (found.length === TITLES) break;
    const text = short(mark.point.title || mark.point.id, width < NARROW ? 20 : 34);
    const [x, y] = at.get(mark), long = textWidth(text, "11.5px");
    const places = [[x + 11, y], [x - 11 - long, y], [x - long / 2, y + 17], [x - long / 2, y - 17], [x + 8, y + 13], [x + 8, y - 13]];
    const free = places.map(([left, line]) => [left, line, lineAt(left, line, long)])
      .find(([, , box]) => inside(box, width, height) && !taken.some((other) => overlap(box, other)));
    if (!free) continue;
    taken.push(free[2]);
    found.push(svg("text", { class: "map-title", x: free[0].toFixed(1), y: (free[1] + 4).toFixed(1) }, text));
  }
  return found;
}

const neighbours = ([x, y], marks, at) => marks.filter((other) => Math.hypot(at.get(other)[0] - x, at.get(other)[1] - y) < 70).length;
const around = ([x, y], half) => ({ left: x - half, right: x + half, top: y - half, bottom: y + half });
const lineAt = (left, y, long) => ({ left: left - 2, right: left + long + 2, top: y - HEIGHT / 2, bottom: y + HEIGHT / 2 });
const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
const inside = (box, width, height) => box.left >= 2 && box.right <= width - 2 && box.top >= 2 && box.bottom <= height - 2;
const middle = (places) => [0, 1].map((axis) => places.reduce((sum, place) => sum + place[axis], 0) / places.length);

function textWidth(text, font) {
  pen.font = `${font} ${getComputedStyle(document.body).fontFamily}`;
  return pen.measureText(text).width;
}

function short(title, most) {
  if (title.length <= most) return title;
  const cut = title.slice(0, most);
  return (cut.lastIndexOf(" ") > most / 2 ? cut.slice(0, cut.lastIndexOf(" ")) : cut).replace(/[\s,:;.]+$/, "") + " …";
}

/* The convex hull of places as a path; of one place or two, a line. */
function outline(places) {
  const sorted = [...places].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const turn = (o, a, b) => (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0]);
  const half = (points) => {
    const found = [];
    for (const point of points) {
      while (found.length > 1 && turn(found.at(-2), found.at(-1), point) <= 0) found.pop();
      found.push(point);
    }
    return found.slice(0, -1);
  };
  const hull = sorted.length > 2 ? [...half(sorted), ...half(sorted.reverse())] : sorted;
  return hull.length ? `M${hull.map(([x, y]) => `${x.toFixed(1)} ${y.toFixed(1)}`).join("L")}Z` : "";
}
