// Asks the server. Every answer is {ok, result, total, next} or {ok, error}; an error is thrown with its message.
import { h } from "./dom.js";

export class Refused extends Error {
  constructor(error) { super(error.message); this.code = error.code; this.status = error.status; }
}

async function ask(path, options) {
  let response;
  try {
    response = await fetch(path, { credentials: "omit", ...options });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused({ status: 0, code: "gone", message: "The server does not answer. Is undust serve still running?" });
  }
  const answer = await response.json();
  if (!answer.ok) throw new Refused(answer.error);
  return answer;
}

export const part = encodeURIComponent;

export function query(fields) {
  const kept = Object.entries(fields).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  return kept.length ? "?" + new URLSearchParams(kept) : "";
}

export const get = (path, fields = {}, signal) => ask(path + query(fields), { signal });
export const next = (path) => ask(path.replace(/^\//, ""));

let token = sessionStorage.getItem("token");

export async function post(path, body, { signal, write = false } = {}) {
  const headers = { "Content-Type": "application/json" };
  if (write && token) headers.Authorization = `Bearer ${token}`;
  try {
    return await ask(path, { method: "POST", headers, body: JSON.stringify(body), signal });
  } catch (error) {
    if (!write || error.status !== 401) throw error;
    token = await askToken();
    if (!token) throw error;
    sessionStorage.setItem("token", token);
    return post(path, body, { signal, write });
  }
}

function askToken() {
  const dialog = document.getElementById("ask");
  const input = dialog.querySelector("input");
  input.value = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue ? input.value : ""), { once: true }));
}

export function toast(text, label, action) {
  const box = h("div", { class: "toast" }, h("span", {}, text));
  if (label) box.append(h("button", { type: "button", onclick: () => { box.remove(); action(); } }, label));
  document.getElementById("toasts").append(box);
  setTimeout(() => box.remove(), label ? 12000 : 5000);
}
