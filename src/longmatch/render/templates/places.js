/* Finding a place of a text in its pane, and bringing it into view. */

/* The last paragraph that begins at or before a place in the text, or the heading right above it. */
function blockAt(pane, start) {
  const blocks = [...pane.querySelectorAll("[data-at]")].filter((block) => Number(block.dataset.at) <= start);
  const last = blocks.at(-1) ?? pane.querySelector("[data-at]");
  if (last?.matches("section")) return last.firstElementChild;
  return last?.previousElementSibling?.matches("h3, h4, h5, h6") ? last.previousElementSibling : last;
}

/* How many units of a string its first characters take: spans count characters, strings count halves of some. */
const units = (text, characters) => {
  let at = 0;
  while (characters-- > 0 && at < text.length) at += text.codePointAt(at) > 0xffff ? 2 : 1;
  return at;
};

/* The characters start to end of a document, as ranges of its pane: one for each paragraph they lie in. */
function rangesOf(pane, [start, end]) {
  const ranges = [];
  for (const paragraph of pane.querySelectorAll("p[data-at]")) {
    const begin = Number(paragraph.dataset.at);
    if (begin >= end) break;
    const text = paragraph.textContent;
    const from = units(text, start - begin), to = units(text, end - begin);
    if (from >= text.length || to <= from) continue;
    const range = new Range();
    for (const [place, set] of [[from, "setStart"], [to, "setEnd"]]) {
      let left = place;
      const walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT);
      while (walker.nextNode() && left > walker.currentNode.length) left -= walker.currentNode.length;
      range[set](walker.currentNode, left);
    }
    ranges.push(range);
  }
  return ranges;
}

/* A function that brings an element (or a range) to the middle of its pane, or to the top. */
function mountReveal() {
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const way = {}, FRAMES = 8, TOP = 52;

  /* What is far away was never laid out and its height is an estimate: so look again for some frames. */
  function reveal(pane, element, block, jump, again = FRAMES) {
    const frame = pane.getBoundingClientRect(), box = element.getBoundingClientRect();
    const room = block === "start" ? TOP : Math.max(TOP, (frame.height - box.height) / 2.4);
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
  return reveal;
}
