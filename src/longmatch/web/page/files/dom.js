/* Elements from plain words. Text is always placed as text: nothing a document says can become markup here. */

/* h("p", { class: "hint", onclick: act, dir: "auto" }, "text", child, ...): null and false children are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  fill(element, attributes);
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, attributes);
  element.append(...children.flat());
  return element;
}

function fill(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
}

/* The one place where markup comes in: comparisons, which the server's renderer has escaped. */
const policy = globalThis.trustedTypes?.createPolicy("longmatch", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
export function rendered(html) {
  const parsed = new DOMParser().parseFromString(policy.createHTML(html), "text/html");
  return [...parsed.body.children].map((element) => document.adoptNode(element));
}

/* A probability as people write it, no finer than whole percents; the same as `chance` in wording.py. */
export function chance(probability) {
  if (probability < 0.01) return "below 1%";
  return probability > 0.99 ? "above 99%" : `${Math.round(probability * 100)}%`;
}

export const number = (value) => value.toLocaleString("en");
export const count = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;

const names = new Intl.DisplayNames(["en"], { type: "language" });
export function language(code) {
  try { return names.of(code) ?? code; } catch { return code; }
}

/* A text with the shared words in bold. */
export function withWords(text, words) {
  const clean = text.replace(/\s+/g, " ").trim();
  const pattern = wordPattern([...words]);
  if (!pattern) return [clean];
  const pieces = [];
  let at = 0;
  for (const found of clean.matchAll(pattern)) {
    pieces.push(clean.slice(at, found.index), h("b", {}, found[0]));
    at = found.index + found[0].length;
  }
  return [...pieces, clean.slice(at)];
}
