/* The matrix: what the pointer is on, and where a choice leads. `choose(row, column)` is called with indices. */
function mountMatrix(root, data, choose, signal) {
  const box = root.querySelector(".matrix-box");
  if (!box) return;
  const tip = root.querySelector(".tip");
  const table = box.querySelector("table");
  const each = (label) => Array(Number(label.dataset.size ?? 1)).fill(label); // one label for all rows under a heading
  const rows = [...box.querySelectorAll("tbody th, .drawn-rows li")].flatMap(each);
  const columns = [...box.querySelectorAll("thead th, .drawn-columns li")].flatMap(each);
  const [rowOpenings, columnOpenings] = data.openings ?? [[], []];
  let lit = [];

  function point(row, column, value, x, y) {
    leave();
    lit = [rows[row], columns[column]];
    for (const label of lit) label.classList.add("on");
    const named = (label, opening) => label.title + (opening ? `: ${opening}` : "");
    const lines = [
      ["b", value],
      ["span", named(rows[row], rowOpenings[row])],
      ["span", "with " + named(columns[column], columnOpenings[column])],
    ];
    tip.replaceChildren(...lines.map(([tag, text]) => Object.assign(document.createElement(tag), { textContent: text })));
    tip.hidden = false;
    const size = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - size.width - 8)) + "px";
    tip.style.top = (y + 18 + size.height > innerHeight ? y - size.height - 12 : y + 18) + "px";
  }
  function leave() {
    for (const label of lit) label.classList.remove("on");
    lit = [];
    tip.hidden = true;
  }
  box.addEventListener("pointerleave", leave);
  box.addEventListener("focusout", leave);
  if (table) mountTable(table, point, choose);
  else mountCanvas(box, data, point, choose, signal);
}

function mountTable(table, point, choose) {
  const place = (button) => [button.closest("tr").rowIndex - 1, button.parentElement.cellIndex - 1];
  const buttons = [...table.querySelectorAll("button")];
  const full = (button) => Number(button.textContent).toFixed(2);
  buttons.forEach((button, at) => { button.tabIndex = at ? -1 : 0; }); // one stop for Tab; arrows move inside
  table.addEventListener("pointerover", (event) => {
    const button = event.target.closest("button");
    if (button) point(...place(button), full(button), event.clientX, event.clientY);
  });
  table.addEventListener("focusin", (event) => {
    const button = event.target.closest("button");
    if (!button || !button.matches(":focus-visible")) return;
    const at = button.getBoundingClientRect();
    point(...place(button), full(button), at.right, at.bottom);
  });
  table.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    for (const other of table.querySelectorAll("button.on")) other.classList.remove("on");
    button.classList.add("on");
    choose(...place(button));
  });
  table.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    const from = event.target.closest("button");
    if (!step || !from) return;
    event.preventDefault();
    let [row, column] = place(from);
    for (;;) { // step over the diagonal of a document with itself
      row += step[0];
      column += step[1];
      const cell = table.tBodies[0].rows[row]?.cells[column + 1];
      if (!cell || column < 0) return;
      const button = cell.querySelector("button");
      if (!button) continue;
      from.tabIndex = -1;
      button.tabIndex = 0;
      button.focus();
      return;
    }
  });
}
