/* Every view has an address: #/view?name=value. */

export function read(hash = location.hash) {
  const [path, search = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { view: path || "search", parameters: Object.fromEntries(new URLSearchParams(search)) };
}

export function to(view, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return `#/${view}` + (given.length ? "?" + new URLSearchParams(given) : "");
}

/* Change the address of the view that is shown, without rendering it again. */
export function settle(view, parameters) {
  history.replaceState(history.state, "", to(view, parameters));
}

export const isUpload = (id) => /^u-[0-9a-f]{16}$/.test(id);
