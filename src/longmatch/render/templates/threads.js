/* Lines between the partners that are both in view; redrawn when a pane scrolls. */
function mountThreads(root, links, signal) {
  const svg = root.querySelector(".threads");
  const panes = { a: root.querySelector('.pane[data-side="a"]'), b: root.querySelector('.pane[data-side="b"]') };
  const seen = { a: new Set(), b: new Set() }; // paragraphs in view: what is off screen is never measured
  const MOST = 40;
  let waiting = false;
  let state = { picked: null, lit: [] };

  function ask() {
    if (waiting || !svg) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  }
  for (const side of ["a", "b"]) {
    const watch = new IntersectionObserver((entries) => {
      for (const entry of entries) seen[side][entry.isIntersecting ? "add" : "delete"](entry.target);
      ask();
    }, { root: panes[side] });
    for (const paragraph of panes[side].querySelectorAll("p[data-at]")) watch.observe(paragraph);
    panes[side].addEventListener("scroll", ask, { passive: true });
  }
  addEventListener("resize", ask, { signal });

  /* The height at which each passage in view meets the gutter. */
  function heights(side, frame) {
    const pane = panes[side].getBoundingClientRect();
    const found = new Map();
    for (const paragraph of seen[side]) {
      for (const mark of paragraph.querySelectorAll("mark")) {
        if (getComputedStyle(mark).backgroundColor === "rgba(0, 0, 0, 0)") continue; // filtered out
        const box = mark.getBoundingClientRect();
        const y = (box.top + box.bottom) / 2;
        if (y < pane.top + 40 || y > pane.bottom) continue;
        for (const passage of mark.dataset.p.split(" ")) if (!found.has(passage)) found.set(passage, y - frame.top);
      }
    }
    return found;
  }
  function draw() {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) return;
    const left = heights("a", frame), right = heights("b", frame);
    const visible = [];
    for (const [passage, y] of left) {
      for (const number of links.of.a[passage]) {
        const to = right.get(String(links.links[number][1]));
        if (to !== undefined && links.shown(number)) visible.push([number, y, to]);
      }
    }
    visible.sort((x, y) => x[0] - y[0]);
    const top = links.links.reduce((most, link) => Math.max(most, link[3]), 0) || 1;
    svg.replaceChildren(...visible.slice(0, MOST).map(([number, from, to]) => {
      const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
      const link = links.links[number], width = frame.width;
      const strength = Math.max(1, Math.min(5, Math.round(Math.sqrt(link[3] / top) * 5)));
      path.setAttribute("d", `M0 ${from} C${width / 2} ${from} ${width / 2} ${to} ${width} ${to}`);
      path.setAttribute("class", `${link[4] === 1 ? "keyword" : "meaning"} s${strength}`
        + (number === state.picked ? " picked" : "") + (state.lit.includes(number) ? " lit" : ""));
      return path;
    }));
  }
  return (change) => { state = { ...state, ...change }; ask(); };
}
