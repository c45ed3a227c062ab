// Small pieces that several screens share.

import { h, plain, say } from "./dom.js";
import { ago } from "./time.js";

const MARKS = { active: "●", stale: "◐", evicted: "○" };

// The liveness of an agent as a word, a shape and a colour: no reader needs all three.
export function alive(liveness, label, because) {
  const tone = { active: "good", stale: "caution", evicted: "bad" }[liveness] || "neutral";
  return h("span", { class: `badge ${tone}`, "data-liveness": liveness || "", title: because || "" },
    h("span", { "aria-hidden": "true" }, MARKS[liveness] || "·"), " ", label || liveness || "");
}

export function chip(tone, text, title) {
  return h("span", { class: `badge ${tone}`, title }, plain(text, 120));
}

export function section(title, key, ...children) {
  return h("section", { key, "aria-labelledby": `h-${key}` }, h("h2", { id: `h-${key}` }, title), children);
}

export function table(name, columns, rows) {
  return h("div", { class: "scroll", role: "group", tabindex: "0", "aria-label": name }, h("table", {}, h("caption", { class: "hidden" }, name),
    h("thead", {}, h("tr", {}, columns.map((column) => h("th", { key: column, scope: "col" }, column)))), h("tbody", {}, rows)));
}

export function empty(text) {
  return h("p", { class: "empty" }, text);
}

export function link(to, ...children) {
  return h("a", { href: to }, children);
}

export const toWork = (work) => `#/sessions/${encodeURIComponent(work)}`;
export const toDecision = (id) => `#/decisions/${encodeURIComponent(id)}`;
export const toMessage = (id) => `#/mail/${encodeURIComponent(id)}`;
export const toStream = (id) => `#/record/${encodeURIComponent(id)}`;
export const toAgent = (name) => `#/agents/${encodeURIComponent(name)}`;

// Parts in a parliament that have no page of an agent; its prime minister is a person.
const PARTS = ["speaker", "clerk", "prime-minister"];
const PERSONS = ["operator", "prime-minister"];

// What is due that only a person can do.
export function duePersons(status) {
  const people = new Set(status.agents.filter((a) => a.class === "human").map((a) => a.agent).concat(PERSONS));
  return status.due.filter((item) => people.has(item.who));
}

// Who withdrew a false entry, and why; nothing for the others.
export function withdrawal(mark) {
  if (!mark) return null;
  return h("p", { class: "soft" }, "withdrawn by ", who(mark.by), `(${mark.capacity}): `, say(mark.reason, 300), mark.evidence ? [" (", say(mark.evidence, 300), ")"] : null);
}

export function who(name) {
  if (!name) return h("span", { class: "soft" }, "nobody");
  if (PARTS.includes(name)) return h("span", { class: "name" }, name);
  return link(toAgent(name.split("/")[0]), h("span", { class: "name" }, plain(name, 80)));
}

// A command for the user to copy: this page runs nothing.
export function command(text) {
  const copy = (event) => {
    const button = event.currentTarget;
    navigator.clipboard.writeText(text.replace(/ \(.*\)$/, "")).then(() => {
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    }, () => {});
  };
  return h("span", { class: "command" }, h("code", {}, plain(text, 400)),
    h("button", { type: "button", class: "small", onclick: copy, "aria-label": `copy the command ${plain(text, 60)}` }, "copy"));
}

export function kindOf(id) {
  return id.split("/")[0];
}

// The address of the screen that shows a due item.
export function toDue(item) {
  const kind = kindOf(item.id);
  if (["decision", "debate", "parliament", "trace"].includes(kind)) return toDecision(item.id);
  if (kind === "mail") {
    const id = /^(\S+): /.exec(item.subject);  // an id may hold a colon, never a space
    return id ? toMessage(id[1]) : "#/mail";
  }
  return kind === "presence" ? "#/sessions" : toStream(item.id);
}

export function dueRow(item, title) {
  return drawDue(item, [who(item.who), link(toDue(item), h("b", {}, plain(item.what, 120)))], h("div", { class: "said" }, say(item.subject, 400), title && !item.subject.includes(title) ? [" · ", say(title, 200)] : null));
}

// What waits for the person who looks: what it is about comes first.
export function ownDueRow(item) {
  return drawDue(item, [link(toDue(item), h("b", {}, say(item.subject, 400))), chip("caution", item.what)], null);
}

function drawDue(item, first, second) {
  return h("li", { key: `${item.id} ${item.who} ${item.what} ${item.subject}`, class: item.overdue ? "row overdue" : "row" },
    h("div", { class: "line" }, first, item.overdue ? chip("bad", "overdue") : null,
      item.by ? h("span", { class: "soft" }, item.overdue ? "was due " : "due ", ago(item.by)) : null),
    second, item.hint ? command(item.hint) : null);
}
