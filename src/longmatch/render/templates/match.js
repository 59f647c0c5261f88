/* A comparison brought to life: highlights, filters, the walk through the pairs. Works for any .comparison on a page;
   ends with the signal. Gives back a function that puts the matrix of another level in the place of the one shown. */
function mountMatch(root, signal = new AbortController().signal) {
  const data = JSON.parse(root.querySelector(".match-data").textContent);
  const links = new Links(root, data);
  const threads = mountThreads(root, links, signal);
  const reveal = mountReveal();
  const panes = { a: root.querySelector('.pane[data-side="a"]'), b: root.querySelector('.pane[data-side="b"]') };
  const other = { a: "b", b: "a" };
  const place = root.querySelector(".place"), about = root.querySelector(".about");
  let picked = null;

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
    const kind = Object.assign(document.createElement("span"), { className: "kind " + (link[4] === 1 ? "keyword" : "meaning") });
    kind.textContent = ["Same meaning", "Same words", "Same meaning, other words"][link[4]];
    const weight = Object.assign(document.createElement("b"), { textContent: share(link[3]) });
    const rest = ` of the match, similarity ${link[2].toFixed(2)}` + (link[5].length ? `, shared: ${link[5].join(", ")}` : "");
    about.replaceChildren(kind, weight, rest);
  }
  const leave = () => {
    ["picked", "there", "chosen"].forEach(clear);
    if ("highlights" in CSS) CSS.highlights.delete("chosen-part");
  };

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
  }, { signal });
  root.querySelector(".next")?.addEventListener("click", () => step(1));
  root.querySelector(".previous")?.addEventListener("click", () => step(-1));
  root.addEventListener("change", (event) => {
    if (event.target.name !== "show" && event.target.name !== "amount") return;
    root.dataset[event.target.name] = event.target.value;
    if (picked !== null && links.shown(picked)) tell(picked);
    else forget();
    threads({});
  });
  root.querySelector(".strongest .cards")?.addEventListener("click", (event) => {
    const card = event.target.closest(".show")?.closest(".card");
    if (!card) return;
    bringReading();
    pick(Number(card.dataset.link));
  });
  root.querySelector(".reuse")?.addEventListener("click", (event) => {
    const button = event.target.closest(".show");
    if (button) chooseSpans({ a: button.dataset.a.split(" ").map(Number), b: button.dataset.b.split(" ").map(Number) });
  });
  for (const chip of root.querySelectorAll(".chip")) chip.addEventListener("click", () => markWord(root, chip));

  /* A passage that stands in both texts. */
  function chooseSpans(spans) {
    bringReading();
    forget();
    const parts = [];
    for (const side of ["a", "b"]) {
      const ranges = rangesOf(panes[side], spans[side]);
      parts.push(...ranges);
      if (ranges.length) reveal(panes[side], ranges[0], "start", false);
    }
    if ("highlights" in CSS) CSS.highlights.set("chosen-part", new Highlight(...parts));
  }

  /* A cell of the matrix: bring both parts into view, light what links them, and step to the strongest of it. */
  function chooseCell(matrix, row, column) {
    const spans = { a: matrix.rows[row], b: matrix.columns[column] };
    const whole = matrix.level === "sections";
    const numbers = links.between(spans.a, spans.b).filter((number) => links.shown(number));
    bringReading();
    if (numbers.length) pick(numbers[0], []);
    else forget(`No passages of these two ${whole ? "sections" : "places"} answer each other.`);
    const parts = [];
    for (const side of ["a", "b"]) {
      const block = blockAt(panes[side], spans[side][0]);
      if (!block) continue;
      if (whole) block.closest("section").classList.add("there");
      const ranges = whole ? [] : rangesOf(panes[side], spans[side]);
      parts.push(...ranges);
      reveal(panes[side], ranges[0] ?? block, matrix.level === "sentences" ? "center" : "start", false);
    }
    if (parts.length && "highlights" in CSS) CSS.highlights.set("chosen-part", new Highlight(...parts));
    style(numbers, "chosen");
  }
  const mountLevel = (matrix) => mountMatrix(root, matrix, (row, column) => chooseCell(matrix, row, column), signal);
  mountLevel(data.matrix);
  const replaceMatrix = (section, matrix) => {
    root.querySelector(".sections").replaceWith(section);
    mountLevel(matrix);
  };
  if (!links.links.length) return replaceMatrix;
  pick(0, []);
  const arrival = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    arrival.disconnect();
    if (picked === 0 && !root.querySelector(".there")) pick(0, ["a", "b"], true);
  });
  arrival.observe(root.querySelector(".panes"));
  return replaceMatrix;
}

const pairs = (count) => `${count.toLocaleString("en")} pair${count === 1 ? "" : "s"}`;

/* A share as people write it. */
function share(value) {
  if (value > 0 && value < 0.0005) return "<0.1%";
  return value >= 0.0995 ? Math.round(value * 100) + "%" : (value * 100).toFixed(1) + "%";
}
