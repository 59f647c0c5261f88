/* What stands where an answer is not yet, or is not: loading, nothing, and errors that say what to do. */
import { h } from "./dom.js";

/* A line and a bar; `tell(step, done, total)` moves it, without a total it only shows that something is under way. */
export function working(step, cancel) {
  const bar = h("progress", { class: "progress", max: 1, "aria-label": step });
  const line = h("p", { class: "step", role: "status" }, step);
  const box = h("div", { class: "state working" }, line, bar,
    cancel ? h("button", { type: "button", class: "button quiet", onclick: cancel }, "Cancel") : null);
  return {
    box,
    tell(step, done = 0, total = 0) {
      const words = step.charAt(0).toUpperCase() + step.slice(1);
      line.textContent = total ? `${words}: ${done.toLocaleString("en")} of ${total.toLocaleString("en")}` : words;
      if (total) bar.value = done / total;
      else bar.removeAttribute("value");
    },
  };
}

/* Grey shapes of what is to come: quiet, and the page does not jump when it comes. */
export const skeleton = (lines) =>
  h("div", { class: "skeleton", "aria-hidden": "true" }, Array.from({ length: lines }, () => h("i")));

export const empty = (title, advice, ...more) =>
  h("div", { class: "state empty" }, h("p", { class: "state-title" }, title), h("p", { class: "advice" }, advice), ...more);

/* An error as the server says it: one sentence, and a way on. */
export function failed(problem, again, ...more) {
  const retry = again ? h("button", { type: "button", class: "button", onclick: again }, "Try again") : null;
  const title = problem.status === 404 ? "Not here" : problem.status === 0 ? "No connection" : "That did not work";
  return h("div", { class: "state error", role: "alert" }, h("p", { class: "state-title" }, title),
    h("p", { class: "advice", dir: "auto" }, problem.message), h("div", { class: "ways" }, retry, ...more));
}
