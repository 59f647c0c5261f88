/* The map's markers and its movement: wheel, drag, pinch by buttons, arrow keys from document to document. */
import { h, svg } from "./dom.js";

const SHAPES = [ // around the origin, of about the same area
  "M-5.5 0a5.5 5.5 0 1 0 11 0a5.5 5.5 0 1 0 -11 0z", "M-5 -5h10v10h-10z", "M0 -6.5L6.2 4.6H-6.2z", "M0 -6.8L6.8 0L0 6.8L-6.8 0z",
  "M0 6.5L6.2 -4.6H-6.2z", "M-2 -6h4v4h4v4h-4v4h-4v-4h-4v-4h4z", "M-3 -5.6h6l3.4 5.6l-3.4 5.6h-6l-3.4 -5.6z", "M0 -7L2 -2.4L7 -2L3.2 1.4L4.4 6.4L0 3.7L-4.4 6.4L-3.2 1.4L-7 -2L-2 -2.4z",
];
export const marker = (cluster) => svg("path", { d: SHAPES[(cluster + Math.floor(cluster / 8)) % 8] });

const EDGE = 46, MOST = 24; // pixels around the points; how far one can go in
const STRETCH = 2.5; // how much one direction may be stretched against the other, so that the points fill the box

/* Places marks for the part of the map in view, and moves that part; `placed(at, width, height)` hears where they are. */
export function mountPanning(box, picture, marks, placed, signal) {
  const filled = filling(marks.map((mark) => mark.point));
  let zoom = 1, centre = { x: 0.5, y: 0.5 };

  function place() {
    const { width, height } = box.getBoundingClientRect();
    if (!width) return;
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    const at = new Map(marks.map((mark) => {
      const point = filled(mark.point);
      return [mark, [width / 2 + (point.x - centre.x) * zoom * (width - 2 * EDGE), height / 2 + (point.y - centre.y) * zoom * (height - 2 * EDGE)]];
    }));
    for (const [mark, [x, y]] of at) mark.setAttribute("transform", `translate(${x.toFixed(1)} ${y.toFixed(1)})`);
    placed(at, width, height);
  }
  /* Zoom so that what is under a place of the box stays there. */
  function scale(by, x = 0.5, y = 0.5) {
    const before = zoom;
    zoom = Math.max(1, Math.min(MOST, zoom * by));
    const keep = 1 / before - 1 / zoom;
    centre = { x: centre.x + (x - 0.5) * keep, y: centre.y + (y - 0.5) * keep };
    settle();
  }
  function settle() {
    const room = 0.5 - 0.5 / zoom;
    centre = { x: Math.max(0.5 - room, Math.min(0.5 + room, centre.x)), y: Math.max(0.5 - room, Math.min(0.5 + room, centre.y)) };
    place();
  }
  const whole = () => { zoom = 1; settle(); };

  box.append(h("div", { class: "zoom" },
    h("button", { type: "button", "aria-label": "Closer", onclick: () => scale(1.5) }, "+"),
    h("button", { type: "button", "aria-label": "Further", onclick: () => scale(1 / 1.5) }, "−"),
    h("button", { type: "button", "aria-label": "The whole map", onclick: whole }, "⤢")));
  box.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && zoom === 1 && event.deltaY > 0) return; // the page scrolls on
    event.preventDefault();
    const frame = box.getBoundingClientRect();
    scale(Math.exp(-event.deltaY / 400), (event.clientX - frame.left) / frame.width, (event.clientY - frame.top) / frame.height);
  }, { passive: false });

  let held = null;
  box.addEventListener("pointerdown", (event) => {
    if (event.target.closest(".point, .zoom") || zoom === 1) return;
    held = { x: event.clientX, y: event.clientY, centre };
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (!held) return;
    const { width, height } = box.getBoundingClientRect();
    centre = { x: held.centre.x - (event.clientX - held.x) / width / zoom, y: held.centre.y - (event.clientY - held.y) / height / zoom };
    settle();
  });
  for (const kind of ["pointerup", "pointercancel"]) box.addEventListener(kind, () => { held = null; });

  if (marks.length) marks[0].setAttribute("tabindex", 0); // one stop for Tab; arrows move inside
  picture.addEventListener("keydown", (event) => {
    const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
    const from = event.target.closest(".point");
    if (!way || !from) return;
    event.preventDefault();
    const next = nearest(marks, from, way);
    if (!next) return;
    from.setAttribute("tabindex", -1);
    next.setAttribute("tabindex", 0);
    next.focus();
  });
  const watch = new ResizeObserver(place);
  watch.observe(box);
  signal.addEventListener("abort", () => watch.disconnect());
  return place;
}

/* Points moved and stretched so that they fill the unit square. */
function filling(points) {
  const ranges = ["x", "y"].map((axis) => {
    const values = points.map((point) => point[axis]);
    return [Math.min(...values), Math.max(...values)];
  });
  const widest = Math.max(...ranges.map(([low, high]) => high - low)) || 1;
  const [across, down] = ranges.map(([low, high]) => (value) => (value - (low + high) / 2) / Math.max(high - low, widest / STRETCH) + 0.5);
  return (point) => ({ x: across(point.x), y: down(point.y) });
}

/* The nearest mark that lies mostly in one direction. */
function nearest(marks, from, [dx, dy]) {
  let best = null, least = Infinity;
  for (const mark of marks) {
    const x = mark.point.x - from.point.x, y = mark.point.y - from.point.y;
    const along = x * dx + y * dy, across = Math.abs(x * dy) + Math.abs(y * dx);
    if (mark === from || along <= 0) continue;
    const cost = along + 2.5 * across;
    if (cost < least) [best, least] = [mark, cost];
  }
  return best;
}
