// Reading from the server. An unchanged answer has no body and returns the same value, so that
// nothing is drawn again for it.

import { forget, ownHalf } from "./secret.js";
import { noteServerTime } from "./time.js";

const known = new Map();
const MOST_KNOWN = 60;

export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.message);
    Object.assign(this, { status, code: problem.code, hint: problem.hint });
  }
}

export async function read(path) {
  const before = known.get(path);
  const headers = { "X-Moot-Half": ownHalf() };
  if (before) headers["If-None-Match"] = before.etag;
  const reply = await fetch(path, { headers, cache: "no-store" });
  if (reply.status === 304 && before) return before.data;
  const data = await unpack(reply);
  known.delete(path);
  known.set(path, { etag: reply.headers.get("etag"), data });
  if (known.size > MOST_KNOWN) known.delete(known.keys().next().value);
  return data;
}

export async function post(path, body) {
  const reply = await fetch(path, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Moot-Half": ownHalf() },
    body: JSON.stringify(body || {}),
  });
  return unpack(reply);
}

async function unpack(reply) {
  let envelope;
  try {
    envelope = await reply.json();
  } catch {
    throw new ApiError(reply.status, { code: "no_answer", message: "the server gave no answer", hint: "" });
  }
  if (reply.status === 401) forget();
  if (envelope.at) noteServerTime(envelope.at);
  if (!envelope.ok) throw new ApiError(reply.status, envelope.error);
  return envelope.data;
}

export async function ticketFor(target) {
  const { ticket } = await post("/api/v1/tickets", { target });
  return `${target}?ticket=${encodeURIComponent(ticket)}`;
}

// Opens the tab before it has the ticket: browsers allow a new tab only during a click.
export async function openApart(target) {
  const tab = window.open("about:blank", "_blank");
  const address = await ticketFor(target);
  if (tab) {
    tab.opener = null;
    tab.location.replace(address);
  }
}
