/* Shared words: a pattern that finds them, and every occurrence of one marked in both texts. */

/* Words and phrases as a whole, longest first, whatever their case and spacing. Chinese and Japanese need no space around them. */
function wordPattern(words) {
  const one = (word) => {
    const escaped = word.trim().replace(/[.*+?^${}()|[\]\\/]/g, "\\$&").replace(/\s+/g, "[\\s\\p{P}]+");
    return /[\u3040-\u30ff\u3400-\u9fff]/.test(word) ? escaped : `(?<![\\p{L}\\p{N}])${escaped}(?![\\p{L}\\p{N}])`;
  };
  const wanted = words.filter((word) => word.trim()).sort((x, y) => y.length - x.length);
  return wanted.length ? new RegExp(wanted.map(one).join("|"), "giu") : null;
}

/* Mark every occurrence of a shared word in both texts, without touching the texts. */
function markWord(root, chip) {
  if (!("highlights" in CSS)) return;
  const on = chip.getAttribute("aria-pressed") !== "true";
  for (const each of root.querySelectorAll(".chip")) each.setAttribute("aria-pressed", String(on && each === chip));
  CSS.highlights.delete("shared-word");
  if (!on) return;
  const wanted = wordPattern([chip.dataset.word]);
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
