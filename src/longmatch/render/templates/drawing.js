/* A large matrix: one pixel a cell, enlarged. Its labels stand for the rows and columns under one heading. */
function mountCanvas(box, data, point, choose, signal) {
  const canvas = box.querySelector("canvas"), cursor = box.querySelector(".cursor");
  const LARGEST = 18, SMALLEST = 3, LEAST_LABEL = 11, WIDTH = 960; // pixels
  const fitting = Math.max(SMALLEST, Math.min(LARGEST, Math.floor(WIDTH / canvas.width)));
  const cell = data.level === "sections" ? LARGEST : fitting; // every section keeps a label that can be read
  const values = Uint8Array.from(atob(data.values), (letter) => letter.charCodeAt(0)); // row by row, in hundredths
  const frame = box.querySelector(".drawn");
  frame.style.setProperty("--cell", cell + "px");
  frame.classList.toggle("fine", cell < 8);
  canvas.style.width = canvas.width * cell + "px";
  canvas.style.height = canvas.height * cell + "px";
  for (const [list, side] of [[".drawn-rows", "height"], [".drawn-columns", "width"]]) {
    let place = 0, free = 0; // a label may reach over the next ones, which then have none
    for (const label of box.querySelectorAll(`${list} li`)) {
      const size = Number(label.dataset.size) * cell;
      label.style[side] = size + "px";
      label.classList.toggle("unnamed", place < free);
      if (place >= free) free = place + LEAST_LABEL;
      place += size;
    }
  }
  let at = [0, 0];

  function draw() {
    const probe = document.createElement("i");
    const ramp = document.createElement("span");
    ramp.className = "ramp";
    ramp.append(probe);
    box.append(ramp);
    const pixel = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const shades = Array.from({ length: 21 }, (_, shade) => {
      probe.className = "h" + shade;
      pixel.fillStyle = getComputedStyle(probe).backgroundColor;
      pixel.fillRect(0, 0, 1, 1);
      return pixel.getImageData(0, 0, 1, 1).data;
    });
    ramp.remove();
    const [bottom, top] = data.range;
    const shadeOf = Array.from({ length: 101 }, (_, value) =>
      shades[Math.round(20 * Math.max(0, Math.min(1, (value / 100 - bottom) / (top - bottom))))]);
    const image = new ImageData(canvas.width, canvas.height);
    values.forEach((value, index) => image.data.set(shadeOf[value], index * 4));
    canvas.getContext("2d").putImageData(image, 0, 0);
  }
  draw();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw, { signal });
  document.addEventListener("schemechange", draw, { signal });

  function move(row, column, x, y) {
    at = [Math.max(0, Math.min(row, canvas.height - 1)), Math.max(0, Math.min(column, canvas.width - 1))];
    cursor.hidden = false;
    cursor.style.transform = `translate(${at[1] * cell}px, ${at[0] * cell}px)`;
    point(...at, (values[at[0] * canvas.width + at[1]] / 100).toFixed(2), x, y);
  }
  const under = (event) => move(Math.floor(event.offsetY / cell), Math.floor(event.offsetX / cell), event.clientX, event.clientY);
  canvas.addEventListener("pointermove", under);
  canvas.addEventListener("click", (event) => { under(event); choose(...at); });
  box.addEventListener("keydown", (event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter") choose(...at);
    if (!step) return;
    event.preventDefault();
    move(at[0] + step[0], at[1] + step[1], 0, 0);
    cursor.scrollIntoView({ block: "nearest", inline: "nearest" });
    const place = cursor.getBoundingClientRect();
    move(...at, place.right, place.bottom);
  });
}
