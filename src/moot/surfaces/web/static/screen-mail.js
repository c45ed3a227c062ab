// Mail: all of it or one agent's, with who has seen and answered it. Reading here marks nothing.

import { openApart, read } from "./api.js";
import { h, plain, say } from "./dom.js";
import { chip, empty, link, toMessage, who } from "./parts.js";
import { ago } from "./time.js";

const filter = { agent: "", words: "", more: [] };
const STATES = { unread: ["caution", "unread"], seen: ["neutral", "seen"], acked: ["good", "answered"] };

function address(after) {
  const query = new URLSearchParams();
  if (filter.agent) query.set("agent", filter.agent);
  if (filter.words) query.set("q", filter.words);
  if (after) query.set("after", after);
  return `/api/v1/mail?${query}`;
}

export const mail = {
  title: "Mail",
  reads: () => ({ list: address(), agents: "/api/v1/agents" }),
  shows: ["mail"],
  draw({ list, agents }, again) {
    const change = (name) => (event) => { filter[name] = event.target.value; filter.more = []; again(true); };
    const messages = [...list.messages, ...filter.more.flatMap((page) => page.messages)];
    const last = filter.more.at(-1) || list;
    const older = async () => { filter.more.push(await read(address(last.after))); again(); };
    return [
      h("form", { key: "filters", class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
        h("label", {}, "Agent ", h("select", { onchange: change("agent") }, h("option", { value: "" }, "all"), agents.agents.map((a) => h("option", { key: a.agent, value: a.agent }, plain(a.agent))))),
        h("label", {}, "Words ", h("input", { type: "search", maxlength: "400", onchange: change("words") }))),
      messages.length ? h("ul", { key: "messages", class: "rows" }, messages.map(drawLine)) : empty("No mail."),
      last.after ? h("p", { key: "older" }, h("button", { type: "button", onclick: older }, "Older mail")) : null,
    ];
  },
};

function drawLine(message) {
  return h("li", { key: message.id, class: "row" },
    h("div", { class: "line" }, message.type && !message.subject.startsWith(message.type) ? h("span", { class: "kind" }, message.type) : null, link(toMessage(message.id), h("b", {}, say(message.subject, 200))), h("span", { class: "soft" }, ago(message.created_at)),
      message.importance === "high" || message.importance === "urgent" ? chip("bad", message.importance) : null),
    h("div", { class: "line" }, message.proved ? who(message.from) : [say(message.from, 80), chip("neutral", "from outside")], " to ",
      message.receivers.map((r) => h("span", { key: r.agent, class: "receiver" }, who(r.agent), r.state ? chip(STATES[r.state][0], r.status || STATES[r.state][1]) : null, r.copy ? h("span", { class: "soft" }, "copy") : null))),
    message.owed_by.length ? h("div", { class: "said caution" }, "waits for ", message.owed_by.join(", ")) : null);
}

export const message = {
  reads: (id) => ({ shown: `/api/v1/mail/${encodeURIComponent(id)}` }),
  shows: ["mail"],
  title: (id) => [id],
  draw({ shown }) {
    const { message: sent, answers } = shown;
    return [
      h("p", { key: "who", class: "line" }, sent.type ? h("span", { class: "kind" }, sent.type) : null, say(sent.from, 80), " to ", sent.to.map((name) => [say(name, 80), " "]), h("span", { class: "soft" }, ago(sent.created_at))),
      h("h3", { key: "subject" }, say(sent.subject, 400)),
      h("p", { key: "body", class: "words" }, say(sent.body, 60000)),
      shown.whole ? null : empty("The rest of this text was erased."),
      sent.artifact ? h("p", { key: "file" }, h("button", { type: "button", onclick: () => openApart(`/artifact/${sent.artifact}`) }, "Download the whole text")) : null,
      h("ul", { key: "answers", class: "rows" }, answers.map((answer) => h("li", { key: answer.agent, class: "row" }, h("div", { class: "line" }, who(answer.agent), chip("good", answer.status), h("span", { class: "soft" }, ago(answer.at))), h("div", { class: "said" }, say(answer.notes, 2000))))),
      h("p", { key: "report" }, h("button", { type: "button", onclick: () => openApart(`/report/${encodeURIComponent(sent.id)}`) }, "Its story in a tab")),
    ];
  },
};
