/* Add: files dropped or chosen become documents of the library, if the server was started so. */
import { to } from "./addresses.js";
import { addFile, ask } from "./api.js";
import { count, h } from "./dom.js";
import { empty } from "./states.js";

const AT_ONCE = 2; // files: one is read while another is encoded
const open = new AbortController().signal; // adding goes on while the reader looks at other views
const list = h("ul", { class: "additions", "aria-label": "Files" });
const summary = h("p", { class: "hint", role: "status" });
const waiting = [];
let running = 0, added = 0, refused = 0;

export async function show(outlet, parameters, signal) {
  document.title = "Add · longmatch";
  const facts = await ask("library", {}, signal);
  const main = h("main", { class: "view adding" });
  outlet.append(main);
  if (!facts.writable) {
    main.append(empty("This server adds no documents", "Whoever started it can allow it:", h("code", {}, "longmatch serve LIBRARY --writable")));
    return;
  }
  const file = h("input", { type: "file", multiple: true, class: "hidden-input", accept: [...facts.formats, ".zip"].join(","), "aria-label": "Choose files to add", onchange: () => {
    take([...file.files]);
    file.value = "";
  } });
  const drop = h("label", { class: "drop" }, file,
    h("span", { class: "drop-title" }, "Drop files here, or choose them"),
    h("span", { class: "hint" }, `PDF, Word, HTML, Markdown, LaTeX, text and more, also in a zip file or mailbox; ${Math.round(facts.uploads.bytes / 1e6)} MB each at most`));
  for (const [kind, over] of [["dragenter", true], ["dragover", true], ["dragleave", false], ["drop", false]]) {
    drop.addEventListener(kind, () => drop.classList.toggle("over", over));
  }
  drop.addEventListener("drop", (event) => take([...event.dataTransfer?.files ?? []]));
  main.append(
    h("header", { class: "hero small" }, h("h1", {}, "Add documents"),
      h("p", { class: "lead" }, "They become part of the library ", h("b", { dir: "auto" }, facts.name), ", for everybody who uses it. The files are kept with it.")),
    drop, summary, list);
}

function take(files) {
  for (const file of files) {
    const row = fileRow(file.name);
    list.append(row.item);
    waiting.push([file, row]);
  }
  next();
}

function next() {
  while (running < AT_ONCE && waiting.length) {
    running += 1;
    one(...waiting.shift()).finally(() => { running -= 1; next(); });
  }
  const left = running + waiting.length;
  const parts = [left ? `${count(left, "file")} to go` : "", added ? `${count(added, "document")} added` : "", refused ? `${count(refused, "file")} refused` : ""];
  summary.textContent = parts.filter(Boolean).join(", ");
}

async function one(file, row) {
  try {
    const done = await addFile(file, row.tell, open);
    row.done(done);
    added += done.documents;
    dispatchEvent(new Event("librarychange"));
  } catch (error) {
    row.refused(error.message);
    refused += 1;
  }
}
addEventListener("beforeunload", (event) => { if (running) event.preventDefault(); });

/* A file on its way: what happens to it, and what came of it. */
function fileRow(name) {
  const state = h("p", { class: "step", role: "status" }, "Waiting");
  const bar = h("progress", { class: "progress", max: 1, value: 0, "aria-label": name });
  const head = h("p", { class: "addition-name", dir: "auto" }, name);
  const item = h("li", { class: "addition" }, head, state, bar);
  const end = (kind, ...words) => {
    item.classList.add(kind);
    bar.remove();
    state.replaceChildren(...words);
  };
  return {
    item,
    tell(step, share) {
      state.textContent = step.charAt(0).toUpperCase() + step.slice(1);
      if (share === null) bar.removeAttribute("value");
      else bar.value = share;
    },
    done(document) {
      if (document.documents > 1) {
        end("added", `Added ${count(document.documents, "document")}: ${count(document.words, "word")}. `, h("a", { href: to("document", { id: document.id }) }, document.title || document.id), " is the first.");
      } else {
        head.replaceChildren(h("a", { href: to("document", { id: document.id }) }, document.title || document.id));
        end("added", `Added as ${document.id}: ${count(document.words, "word")}. `, h("a", { href: to("search", { document: document.id }) }, "What belongs with it"));
      }
      item.append(...document.remarks.map((words) => h("p", { class: "notice", dir: "auto" }, words)));
    },
    refused: (sentence) => end("refused", sentence),
  };
}
