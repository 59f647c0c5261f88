"use strict";
/* Which passages belong together. A link is [passage of a, passage of b, similarity, contribution, kind, shared words];
   the kind is 0 for meaning, 1 for words, 2 for the same meaning in other words. */
class Links {
  constructor(root, data) {
    this.root = root;
    this.links = data.links;
    this.spans = { a: data.a, b: data.b };
    this.of = { a: data.a.map(() => []), b: data.b.map(() => []) };
    this.links.forEach((link, number) => {
      this.of.a[link[0]].push(number);
      this.of.b[link[1]].push(number);
    });
    this.marks = { a: data.a.map(() => []), b: data.b.map(() => []) };
    for (const mark of root.querySelectorAll(".pane mark")) {
      const side = mark.closest(".pane").dataset.side;
      for (const passage of mark.dataset.p.split(" ")) this.marks[side][passage].push(mark);
    }
  }
  /* Whether the filter lets a link through. */
  shown(number) {
    const show = this.root.dataset.show;
    return show === "both" || (show === "keyword") === (this.links[number][4] === 1);
  }
  /* The links of a mark, strongest first. */
  ofMark(side, mark) {
    const numbers = mark.dataset.p.split(" ").flatMap((passage) => this.of[side][passage]);
    return [...new Set(numbers)].filter((number) => this.shown(number)).sort((x, y) => x - y);
  }
  /* The links from one span of a to one span of b, strongest first. */
  between(rows, columns) {
    const inside = (span, frame) => span[0] < frame[1] && span[1] > frame[0];
    return this.links.flatMap((link, number) =>
      inside(this.spans.a[link[0]], rows) && inside(this.spans.b[link[1]], columns) ? [number] : []);
  }
  marksOf(number) {
    const [a, b] = this.links[number];
    return { a: this.marks.a[a], b: this.marks.b[b] };
  }
}
