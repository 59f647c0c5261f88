"use strict";
/* Light or dark: as the system says, unless the reader has chosen. Runs before anything is painted. */
(() => {
  const NAMES = { auto: "as the system", light: "light", dark: "dark" };
  const kept = () => { try { return localStorage.getItem("scheme") ?? "auto"; } catch { return "auto"; } };
  const keep = (scheme) => { try { localStorage.setItem("scheme", scheme); } catch { /* private windows keep nothing */ } };

  function show(scheme) {
    document.documentElement.dataset.scheme = scheme;
    document.querySelector(".scheme")?.setAttribute("aria-label", `Colours: ${NAMES[scheme] ?? NAMES.auto}`);
    document.querySelector(".scheme")?.setAttribute("title", `Colours: ${NAMES[scheme] ?? NAMES.auto}`);
    document.dispatchEvent(new Event("schemechange")); // what is drawn on a canvas has to be drawn again
  }
  show(kept());
  addEventListener("DOMContentLoaded", () => {
    show(kept());
    document.querySelector(".scheme").addEventListener("click", () => {
      const order = Object.keys(NAMES);
      const next = order[(order.indexOf(kept()) + 1) % order.length];
      keep(next);
      show(next);
    });
  });
})();
