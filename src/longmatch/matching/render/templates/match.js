/* A comparison brought to life: highlights, filters, the walk through the pairs. Works for any .comparison on a page. */
function mountMatch(root) {
  const data = JSON.parse(root.querySelector(".match-data").textContent);
  const links = new Links(root, data);
  const threads = mountThreads(root, links);
  const panes = { a: root.querySelector('.pane[data-side="a"]'), b: root.querySelector('.pane[data-side="b"]') };
  const other = { a: "b", b: "a" };
  const place = root.querySelector(".place"), about = root.querySelector(".about");
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const way = {}, FRAMES = 8;
  let picked = null;

  /* Bring an element to the middle of its pane (or to the top). Far away the heights are estimates: look again. */
  function reveal(pane, element, block, jump, again = FRAMES) {
    const frame = pane.getBoundingClientRect(), box = element.getBoundingClientRect();
    const room = block === "start" ? 52 : Math.max(52, (frame.height - box.height) / 2.4);
    const distance = box.top - frame.top - room;
    const near = Math.abs(distance) < 1.5 * frame.height && !jump && !calm;
    pane.scrollBy({ top: distance, behavior: near ? "smooth" : "instant" });
    if (!near && again) requestAnimationFrame(() => reveal(pane, element, block, true, again - 1));
    if (!near) return;
    way[pane.dataset.side]?.abort(); // a newer choice overrules the one still on its way
    way[pane.dataset.side] = new AbortController();
    const signal = AbortSignal.any([way[pane.dataset.side].signal, AbortSignal.timeout(1500)]);
    pane.addEventListener("scrollend", () => reveal(pane, element, block, true), { once: true, signal });
  }
  /* At once, not smoothly: what is off the screen is not laid out, and could not be scrolled to. */
  function bringReading() {
    const reading = root.querySelector(".reading");
    const box = root.querySelector(".panes").getBoundingClientRect();
    if (box.top < 60 || box.bottom > innerHeight + 40) reading.scrollIntoView({ behavior: "instant", block: "start" });
  }
  function clear(name) {
    for (const element of root.querySelectorAll("." + name)) element.classList.remove(name);
  }
  function style(numbers, name) {
    clear(name);
    for (const number of numbers) {
      const marks = links.marksOf(number);
      for (const mark of [...marks.a, ...marks.b]) mark.classList.add(name);
    }
  }
  /* Light passages while the pointer is on one of them. */
  function light(numbers) {
    style(numbers, "lit");
    threads({ lit: numbers });
  }
  const shown = () => links.links.map((_, number) => number).filter((number) => links.shown(number));

  function tell(number) {
    const link = links.links[number], all = shown();
    place.textContent = `${(all.indexOf(number) + 1).toLocaleString("en")} of ${all.length.toLocaleString("en")}`;
    const kind = Object.assign(document.createElement("span"), { className: "kind " + (link[4] ? "keyword" : "meaning") });
    kind.textContent = link[4] ? "Same words" : "Same meaning";
    const weight = Object.assign(document.createElement("b"), { textContent: share(link[3]) });
    const rest = ` of the score, similarity ${link[2].toFixed(2)}` + (link[5].length ? `, shared: ${link[5].join(", ")}` : "");
    about.replaceChildren(kind, weight, rest);
  }
  const leave = () => ["picked", "there", "chosen"].forEach(clear);

  /* Show one pair, and bring it into view on the sides named. */
  function pick(number, sides = ["a", "b"], jump = false) {
    picked = number;
    leave();
    light([]);
    const marks = links.marksOf(number);
    for (const side of ["a", "b"]) {
      for (const mark of marks[side]) mark.classList.add("picked");
      if (sides.includes(side) && marks[side].length) reveal(panes[side], marks[side][0], "center", jump);
    }
    tell(number);
    threads({ picked: number });
  }
  function forget(message = "") {
    leave();
    picked = null;
    threads({ picked: null });
    if (!place) return;
    place.textContent = pairs(shown().length);
    about.textContent = message;
  }
  function step(by) {
    const all = shown();
    if (!all.length) return;
    const at = all.indexOf(picked);
    pick(all[at < 0 ? (by > 0 ? 0 : all.length - 1) : (at + by + all.length) % all.length]);
    bringReading();
  }

  for (const side of ["a", "b"]) {
    const pane = panes[side];
    pane.addEventListener("pointerover", (event) => {
      const mark = event.target.closest("mark");
      light(mark ? links.ofMark(side, mark).slice(0, 12) : []);
    });
    pane.addEventListener("pointerleave", () => light([]));
    pane.addEventListener("click", (event) => {
      const mark = event.target.closest("mark");
      if (!mark || String(getSelection()).length) return; // selecting text is not choosing
      const numbers = links.ofMark(side, mark);
      if (numbers.length) pick(numbers[(numbers.indexOf(picked) + 1) % numbers.length], [other[side]]); // again: the next partner
    });
  }
  document.addEventListener("keydown", (event) => { // the page itself has the focus before anything was chosen
    if (!root.isConnected || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("input:not([type=radio]), textarea, select")) return;
    if (event.key === "n" || event.key === "p") step(event.key === "n" ? 1 : -1);
    if (event.key === "Escape") forget();
  });
  root.querySelector(".next")?.addEventListener("click", () => step(1));
  root.querySelector(".previous")?.addEventListener("click", () => step(-1));
  root.addEventListener("change", (event) => {
    if (event.target.name !== "show" && event.target.name !== "amount") return;
    root.dataset[event.target.name] = event.target.value;
    if (picked !== null && links.shown(picked)) tell(picked);
    else forget();
    threads({});
  });
  root.querySelector(".cards")?.addEventListener("click", (event) => {
    const card = event.target.closest(".show")?.closest(".card");
    if (!card) return;
    bringReading();
    pick(Number(card.dataset.link));
  });
  for (const chip of root.querySelectorAll(".chip")) chip.addEventListener("click", () => markWord(root, chip));

  mountMatrix(root, data, (row, column) => {
    const spans = { a: data.rows[row], b: data.columns[column] };
    const numbers = links.between(spans.a, spans.b).filter((number) => links.shown(number));
    bringReading();
    if (numbers.length) pick(numbers[0], []);
    else forget("No passages of these two sections answer each other.");
    for (const side of ["a", "b"]) {
      const target = blockAt(panes[side], spans[side][0]);
      if (!target) continue;
      target.closest("section").classList.add("there");
      reveal(panes[side], target, "start", false);
    }
    style(numbers, "chosen");
  });
  if (!links.links.length) return;
  pick(0, []);
  const arrival = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    arrival.disconnect();
    if (picked === 0 && !root.querySelector(".there")) pick(0, ["a", "b"], true);
  });
  arrival.observe(root.querySelector(".panes"));
}

/* The last paragraph that begins at or before a place in the text, or the heading right above it. */
function blockAt(pane, start) {
  const blocks = [...pane.querySelectorAll("[data-at]")].filter((block) => Number(block.dataset.at) <= start);
  const last = blocks.at(-1) ?? pane.querySelector("[data-at]");
  if (last?.matches("section")) return last.firstElementChild;
  return last?.previousElementSibling?.matches("h3, h4, h5, h6") ? last.previousElementSibling : last;
}

const pairs = (count) => `${count.toLocaleString("en")} pair${count === 1 ? "" : "s"}`;

/* A share as people write it. */
function share(value) {
  if (value > 0 && value < 0.0005) return "<0.1%";
  return value >= 0.0995 ? Math.round(value * 100) + "%" : (value * 100).toFixed(1) + "%";
}

/* Mark every occurrence of a shared word in both texts, without touching the texts. */
function markWord(root, chip) {
  if (!("highlights" in CSS)) return;
  const on = chip.getAttribute("aria-pressed") !== "true";
  for (const each of root.querySelectorAll(".chip")) each.setAttribute("aria-pressed", String(on && each === chip));
  CSS.highlights.delete("shared-word");
  if (!on) return;
  const escaped = chip.dataset.word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "[\\s\\p{P}]+");
  const spaced = !/[\u3040-\u30ff\u3400-\u9fff]/.test(chip.dataset.word);
  const wanted = new RegExp(spaced ? `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])` : escaped, "giu");
  const ranges = [];
  for (const pane of root.querySelectorAll(".pane")) {
    const walker = document.createTreeWalker(pane, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const found of walker.currentNode.data.matchAll(wanted)) {
        const range = new Range();
        range.setStart(walker.currentNode, found.index);
        range.setEnd(walker.currentNode, found.index + found[0].length);
        ranges.push(range);
      }
    }
  }
  CSS.highlights.set("shared-word", new Highlight(...ranges));
}

for (const root of document.querySelectorAll(".comparison")) mountMatch(root);
