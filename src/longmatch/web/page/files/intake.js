/* A document from outside: a file dropped or chosen, or a text pasted. It is read by the server and kept in its memory only. */
import { upload } from "./api.js";
import { h } from "./dom.js";
import { working } from "./states.js";

/* `ready(document)` is called with what the server has read; `act` names what follows. */
export function intake(ready, act, signal) {
  const box = h("div", { class: "intake" });
  let way = new AbortController();

  async function send(content, name) {
    way = new AbortController();
    const under = AbortSignal.any([way.signal, signal]);
    const { box: progress, tell } = working(`Sending ${name}`, () => way.abort());
    box.replaceChildren(progress);
    try {
      const hear = (share) => share === null ? tell(`Reading ${name}`) : tell(`Sending ${name}`, Math.round(share * 100), 100);
      const read = await upload(content, hear, under);
      if (read.remarks.length) remark(read);
      else ready(read);
    } catch (error) {
      if (signal.aborted) return;
      idle(error.name === "AbortError" ? "" : error.message, typeof content.text === "string" ? content.text : "");
    }
  }

  /* What was not read of it, before going on with the rest. */
  function remark(read) {
    box.replaceChildren(
      ...read.remarks.map((words) => h("p", { class: "notice", role: "alert", dir: "auto" }, words)),
      h("button", { type: "button", class: "button primary", onclick: () => ready(read) }, act));
  }

  function idle(message = "", text = "") {
    const file = h("input", { type: "file", class: "hidden-input", "aria-label": "Choose a file", onchange: () => {
      if (file.files.length) send(file.files[0], file.files[0].name);
    } });
    const drop = h("label", { class: "drop" },
      file,
      h("span", { class: "drop-title" }, "Drop a file here, or choose one"),
      h("span", { class: "hint" }, "PDF, Word, HTML, Markdown, LaTeX, text, e-mail and more"));
    for (const [kind, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
      drop.addEventListener(kind, () => drop.classList.toggle("over", over));
    }
    drop.addEventListener("drop", (event) => {
      const dropped = event.dataTransfer?.files[0];
      if (dropped) send(dropped, dropped.name);
    });
    const area = h("textarea", { class: "field", rows: 4, placeholder: act === "Search" ? "Or paste a text, or ask a question" : "Or paste a text", "aria-label": "Paste a text", value: text, dir: "auto" });
    const button = h("button", { class: "button primary", disabled: !text.trim() }, act);
    area.addEventListener("input", () => { button.disabled = !area.value.trim(); });
    area.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && area.value.trim()) form.requestSubmit();
    });
    const form = h("form", { class: "paste", onsubmit: (event) => {
      event.preventDefault();
      send({ text: area.value, title: titleOf(area.value) }, "the text");
    } }, area, button);
    box.replaceChildren(
      ...(message ? [h("p", { class: "notice", role: "alert", dir: "auto" }, message)] : []),
      h("div", { class: "intake-ways" }, drop, form));
  }
  idle();
  return box;
}

/* What to call a pasted text: its first line, cut at a word. */
function titleOf(text) {
  const line = text.trim().split("\n", 1)[0].replace(/^#+\s*/, "").trim();
  return line.length <= 80 ? line : line.slice(0, 80).replace(/\s+\S*$/, "") + " …";
}
