// Search over everything.

import { h, say } from "./dom.js";
import { empty, link, toDecision, toMessage, toStream } from "./parts.js";

const NAMES = { message: "Message", event: "Event", question: "Question", entry: "Entry", parliament: "Parliament", trace: "Trace", claim: "Claim", path: "Path" };

function target(item) {
  if (item.kind === "message") return toMessage(item.id);
  if (item.kind === "event" || item.kind === "path") return toStream(item.kind === "event" ? "presence" : item.shown_in);
  return toDecision(item.shown_in);
}

export const search = {
  title: "Search",
  reads: (words) => ({ found: `/api/v1/search?q=${encodeURIComponent(words || "")}` }),
  shows: [],
  draw({ found }) {
    if (!found.items.length) return empty("Nothing contains all these words.");
    return h("ul", { class: "rows" }, found.items.map((item) => h("li", { key: `${item.kind} ${item.id}`, class: "row" },
      h("div", { class: "line" }, h("span", { class: "kind" }, NAMES[item.kind] || item.kind), link(target(item), say(item.title, 200)), h("span", { class: "soft" }, say(item.kind === "entry" ? item.shown_in : item.id, 80))))));
  },
};
