// Sessions: cards in groups, a list of overlaps, and the drawer with a conversation.

import { h, plain, say } from "./dom.js";
import { alive, chip, empty, link, section, toWork, who, withdrawal } from "./parts.js";
import { overlaps } from "./screen-now.js";
import { ago, moment } from "./time.js";

const filter = { agent: "", state: "" };

export const sessions = {
  title: "Sessions",
  reads: () => ({ sessions: "/api/sessions" }),
  shows: ["sessions", "agents", "mail"],
  draw({ sessions: screen }, again) {
    const cards = screen.feed.flatMap((group) => group.cards);
    const fits = (card) => (!filter.agent || card.agents.includes(filter.agent)) && (!filter.state || card.label === filter.state);
    const groups = screen.feed.map((group) => ({ ...group, cards: group.cards.filter(fits) })).filter((group) => group.cards.length);
    return [
      h("form", { key: "filters", class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
        choice("agent", "Agent", [...new Set(cards.flatMap((card) => card.agents))].sort(), again),
        choice("state", "State", [...new Set(cards.map((card) => card.label))].sort(), again)),
      h("div", { key: "feed", class: "feed" }, groups.map((group) => drawGroup(group, namesOfKeyFolders(cards)))),
      groups.length ? null : empty(cards.length ? "No card fits these filters." : "No agent works here yet."),
      section("Overlaps", "crossed", overlaps(screen.incursions)),
      section("Waits for acceptance", "pending", pending(screen.pending)),
    ];
  },
};

function choice(name, label, options, again) {
  const change = (event) => { filter[name] = event.target.value; again(); };
  return h("label", { key: name }, label, " ", h("select", { onchange: change },
    h("option", { value: "" }, "all"), options.map((text) => h("option", { key: text, value: text }, plain(text, 80)))));
}

// By key folder how its cards name it, if there is more than one: whose machine, or which run.
function namesOfKeyFolders(cards) {
  const folders = [...new Set(cards.map((card) => card.key_folder).filter(Boolean))];
  return new Map(folders.length > 1 ? folders.map((folder) => [folder, plain(folder, 80).slice(0, 8)]) : []);
}

function drawGroup(group, folders) {
  const several = group.cards.length > 1 && group.parent;
  return h("section", { key: `group ${group.parent}`, class: several ? "group" : "group single", "aria-label": plain(group.parent, 80) || "without a work item" },
    several ? h("h2", {}, say(group.parent, 80)) : null, group.cards.map((card) => drawCard(card, folders)));
}

const TONES = { "Needs input": "caution", Stuck: "bad", Stopped: "bad", Gone: "bad", "Gone quiet": "caution", Done: "neutral", "In progress": "good" };

function drawCard(card, folders) {
  const name = card.work || card.owner;
  return h("article", { key: card.key, class: "card", "data-work": card.work || "" },
    h("header", {},
      h("h3", {}, card.work ? link(toWork(card.work), say(card.work, 80)) : who(card.owner)),
      card.work ? chip(TONES[card.label] || "neutral", card.label) : null),
    card.title ? h("p", { class: "title" }, say(card.title, 160)) : null,
    h("p", { class: "line" }, card.owner ? [card.work ? who(card.owner) : null, alive(card.liveness, card.liveness, card.because), h("span", { class: "soft" }, ago(card.last_seen_at))] : h("span", { class: "soft" }, "no agent works on it")),
    card.agents.length > 1 ? h("p", { class: "soft" }, "also ", card.agents.filter((a) => a !== card.owner).map((a) => [who(a), " "])) : null,
    card.branch || card.worktree ? h("p", { class: "place" }, card.branch ? ["on ", say(card.branch, 80), " "] : null, card.worktree ? ["in ", h("code", {}, plain(card.worktree, 160))] : null) : null,
    folders.has(card.key_folder) ? h("p", { class: "soft" }, "key in ", h("code", { title: plain(card.key_folder, 80) }, folders.get(card.key_folder))) : null,
    card.scopes.length ? h("p", { class: "holds" }, h("span", { class: "soft" }, "holds "), card.scopes.slice(0, 6).map((held) => h("span", { key: held.scope, title: plain(held.holder, 80) }, h("code", {}, plain(held.scope, 120)), h("span", { class: "soft" }, " since ", moment(held.since), held.until ? [" until ", moment(held.until)] : null, " "))),
      card.scopes.length > 6 ? `and ${card.scopes.length - 6} more` : null) : null,
    card.overlap ? h("p", { class: "line" }, chip(card.overlap.label.endsWith("(withdrawn)") ? "neutral" : card.overlap.label === "Refused" ? "caution" : "bad", card.overlap.label), `${card.overlap.kind}: `, who(card.overlap.incoming), " and ", who(card.overlap.owner), h("span", { class: "soft" }, ago(card.overlap.at))) : null,
    card.waits_for.length ? h("p", { class: "line" }, chip("caution", "waits for"), card.waits_for.map((agent) => [who(agent), " "])) : null,
    card.last ? h("p", { class: "last line" }, card.last.by ? who(card.last.by) : null, h("b", {}, card.last.label), card.last.to ? who(card.last.to) : null, h("span", { class: "soft" }, ago(card.last.at))) : null,
    card.usage ? h("p", { class: "used soft" }, "used ", plain(card.usage.line, 120)) : null,
    card.unread || card.owed ? h("p", { class: "soft" }, [card.unread ? `${card.unread} unread` : null, card.owed ? `owes ${card.owed}` : null].filter(Boolean).join(", ")) : null,
    card.work ? h("p", { class: "more" }, link(toWork(card.work), "Conversation", h("span", { class: "hidden" }, ` about ${plain(name, 60)}`))) : null);
}

function pending(items) {
  if (!items.length) return empty("Nothing waits for acceptance.");
  return h("ul", { class: "rows" }, items.map((item) => h("li", { key: item.id, class: "row" },
    h("div", { class: "line" }, chip("caution", item.label), who(item.from_agent), " to ", who(item.to_agent), h("span", { class: "soft" }, ago(item.created_at))),
    h("div", { class: "said" }, item.work ? [link(toWork(item.work), say(item.work, 80)), " "] : null, say(item.subject, 300)))));
}

// The drawer: every event and message about one work item, in the order of the record.
export const conversation = {
  reads: (work) => ({ talk: `/api/sessions/${encodeURIComponent(work)}/conversation` }),
  shows: ["sessions", "mail"],
  title: (work, { talk }) => [work, talk.thread.map((row) => row.title).filter(Boolean).at(-1)],
  draw({ talk }) {
    return [
      talk.more ? empty(`${talk.more} older rows are not shown.`) : null,
      talk.thread.length ? h("ol", { key: "thread", class: "thread" }, talk.thread.map(drawRow)) : empty("There are no events or messages about it."),
    ];
  },
};

const ROW_TONES = { HANDOFF: "good", BLOCKED: "caution", INCURSION: "bad", RESUME: "neutral", MESSAGE: "neutral" };
const NAMES = {
  subject: "Subject", summary: "State", next_action: "Next", blocker: "Blocker", requested_action: "Needed", urgency: "Urgency",
  requires_ack: "Acceptance", incursion_kind: "Overlap", owner_agent: "Owner", incoming_agent: "Incoming agent", owner_liveness: "Owner is", resolution_hint: "What to do",
  owner_alias: "Owner's helper", incoming_alias: "Incoming helper", blob_before: "File before", blob_after: "File after",
  resume_reason: "Why", prior_session_agent: "Before", adopted_agent: "Now", evidence: "Evidence", bead_ids: "Work",
};

function drawRow(row) {
  return h("li", { key: row.id, class: "row", "data-kind": row.kind },
    h("div", { class: "line" }, chip(row.withdrawn ? "neutral" : row.label === "Refused" ? "caution" : ROW_TONES[row.kind] || "neutral", row.label),
      who(row.from_agent), row.to_agent && row.to_agent !== row.from_agent ? [" → ", who(row.to_agent)] : null, h("span", { class: "soft" }, ago(row.at))),
    row.scope ? h("p", {}, h("code", {}, plain(row.scope, 200))) : null,
    withdrawal(row.withdrawn),
    row.kind === "MESSAGE" ? [h("p", {}, h("b", {}, say(row.title, 300))), h("p", { class: "words" }, say(row.text, 4000))] : facts(row.payload),
    h("p", { class: "receipts soft" },
      row.receipts.map((given) => h("span", { key: given.agent + given.label, class: "receipt" }, h("b", {}, plain(given.label, 40)), " ", plain(given.agent, 60), " ", ago(given.at), " ")),
      row.settled ? h("span", { class: "receipt" }, h("b", {}, "Settled"), " no longer needed ") : null,
      row.waits_for ? h("span", { class: "caution" }, "waits for ", plain(row.waits_for, 60), " since ", moment(row.at)) : null));
}

function facts(payload) {
  const order = Object.keys(NAMES);
  const place = ([name]) => (order.includes(name) ? order.indexOf(name) : order.length);
  return h("dl", {}, Object.entries(payload).sort((a, b) => place(a) - place(b)).map(([name, value]) => [
    h("dt", { key: `t ${name}` }, NAMES[name] || plain(name, 40)),
    h("dd", { key: `d ${name}` }, value === true ? "asked for" : value === false ? "not asked for" : Array.isArray(value) ? value.map((v) => [say(v, 200), " "]) : say(value, 4000)),
  ]));
}
