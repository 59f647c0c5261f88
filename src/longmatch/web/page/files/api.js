/* The interface of the server: every question the page asks goes through here. */

export class Problem extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

const ROOT = "api/v1/";
const UNREACHABLE = "The server does not answer. Is longmatch serve still running? Start it again, then try once more.";

/* The token of a server that asks for one: from the address once, then kept for this window. */
export function takeToken() {
  const address = new URL(location.href);
  const token = address.searchParams.get("token");
  if (token === null) return;
  keepToken(token);
  address.searchParams.delete("token");
  history.replaceState(null, "", address);
}
export const keepToken = (token) => sessionStorage.setItem("token", token);
const headers = () => {
  const token = sessionStorage.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
};

function address(path, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return ROOT + path + (given.length ? "?" + new URLSearchParams(given) : "");
}

async function send(path, { parameters, method = "GET", body, signal } = {}) {
  const json = body === undefined ? {} : { "Content-Type": "application/json" };
  let response;
  try {
    response = await fetch(address(path, parameters), {
      method, signal, headers: { ...headers(), ...json }, body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0, UNREACHABLE);
  }
  if (!response.ok) throw new Problem(response.status, await sentence(response));
  return response;
}

async function sentence(response) {
  const answer = await response.json().catch(() => null);
  return explanation(answer, response.status);
}
function explanation(answer, status) {
  if (typeof answer?.detail === "string") return answer.detail;
  return `The server could not answer (${status}). Try again; if it stays so, look at what longmatch serve prints.`;
}

export const ask = async (path, parameters, signal) => (await send(path, { parameters, signal })).json();
export const askText = async (path, parameters, signal) => (await send(path, { parameters, signal })).text();

/* A page as a picture: its address for an image, and how many pages the document has. */
export async function askPicture(path, parameters, signal) {
  const response = await send(path, { parameters, signal });
  const picture = await response.blob();
  const address = await new Promise((done, fail) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => done(reader.result));
    reader.addEventListener("error", () => fail(reader.error));
    reader.readAsDataURL(picture);
  });
  return { address, pages: Number(response.headers.get("Longmatch-Pages")) };
}

/* A ranking as a job: `tell(step, done, total)` hears how far it is. */
export async function rank(question, tell, signal) {
  const { job } = await (await send("rank", { method: "POST", body: question, signal })).json();
  return result(job, tell, signal);
}

/* What comes of a job; it is ended on the server when the signal ends it here. */
async function result(job, tell, signal) {
  signal.addEventListener("abort", () => send(`jobs/${job}`, { method: "DELETE" }).catch(() => null), { once: true });
  for (let pause = 40; ; pause = Math.min(pause * 1.5, 800)) {
    await new Promise((done) => setTimeout(done, pause));
    const standing = await ask(`jobs/${job}`, {}, signal);
    if (standing.state === "done") return standing.result;
    if (standing.state === "failed") throw new Problem(422, standing.detail);
    if (standing.state === "cancelled") throw new DOMException("cancelled", "AbortError");
    tell(standing.step, standing.done, standing.total);
  }
}

/* Upload a file or a text; `tell(share)` hears how much is sent, and null while the server reads it. */
export const upload = (content, tell, signal) => sendContent("uploads", content, tell, signal);

/* Add a file to the library; `tell(step, share)` hears how far it is, a share of null means that nobody knows. */
export async function addFile(file, tell, signal) {
  const hear = (share) => share === null ? tell("reading", null) : tell("sending", share);
  const { job } = await sendContent("documents", file, hear, signal);
  return result(job, (step, done, total) => tell(step, total ? done / total : null), signal);
}

/* Remove a document that was added. */
export const removeDocument = (id) => send("documents", { method: "DELETE", parameters: { id } });

function sendContent(path, content, tell, signal) {
  const isFile = content instanceof File;
  const form = new FormData();
  if (isFile) form.append("file", content);
  return new Promise((done, fail) => {
    const request = new XMLHttpRequest();
    request.open("POST", ROOT + path);
    for (const [name, value] of Object.entries(headers())) request.setRequestHeader(name, value);
    if (!isFile) request.setRequestHeader("Content-Type", "application/json");
    request.upload.addEventListener("progress", (event) => tell(event.lengthComputable ? event.loaded / event.total : null));
    request.upload.addEventListener("load", () => tell(null));
    request.addEventListener("error", () => fail(new Problem(0, UNREACHABLE)));
    request.addEventListener("abort", () => fail(new DOMException("cancelled", "AbortError")));
    request.addEventListener("load", () => {
      let answer = null;
      try { answer = JSON.parse(request.responseText); } catch { /* not JSON: explanation() says so */ }
      if (request.status < 300 && answer) done(answer);
      else fail(new Problem(request.status, explanation(answer, request.status)));
    });
    signal.addEventListener("abort", () => request.abort(), { once: true });
    request.send(isFile ? form : JSON.stringify(content));
  });
}

/* Save an answer as a file, under the name the server gives it. */
export async function download(path, parameters, fallback) {
  const response = await send(path, { parameters });
  const named = /filename\*?=(?:UTF-8'')?"?([^";]+)"?/i.exec(response.headers.get("Content-Disposition") ?? "");
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = named ? decodeURIComponent(named[1]) : fallback;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
