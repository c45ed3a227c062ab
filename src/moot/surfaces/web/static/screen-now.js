// The first screen: what waits for a person, who is here, overlaps, what agents owe.

import { h, plain, say } from "./dom.js";
import { post } from "./api.js";
import { alive, chip, command, duePersons, dueRow, empty, link, ownDueRow, section, toDecision, toWork, who, withdrawal } from "./parts.js";
import { ago, moment } from "./time.js";

export const now = {
  title: "Now",
  reads: () => ({ status: "/api/v1/status", sessions: "/api/sessions", decisions: "/api/v1/decisions", check: "/api/v1/verify" }),
  shows: ["status", "sessions", "agenda", "agents", "decisions", "mail", "verify"],
  draw({ status, sessions, decisions, check }) {
    const mine = duePersons(status);
    const titles = new Map(decisions.decisions.map((line) => [line.id, line.title]));
    const others = status.due.filter((item) => !mine.includes(item));
    return [
      section("Waits for you", "mine", waiting(mine, decisions, status.record)),
      section("Agents", "agents", agents(status.agents, sessions.feed.flatMap((group) => group.cards))),
      section("Overlaps", "overlaps", overlaps(sessions.incursions)),
      section("Owed by agents", "owed", others.length ? h("ul", { class: "rows" }, others.slice(0, 30).map((item) => dueRow(item, titles.get(item.id)))) : empty("No agent owes anything.")),
      section("The record", "record", record(status.record, check, status.unguarded, status.shared)),
    ];
  },
};

const LOST = "Events were lost: Moot writes nothing until you restore them or accept the loss";

export function waitingForPerson({ status, decisions }) {
  const due = duePersons(status).map((item) => `${item.what}: ${item.subject}`);
  if (status.record.rolled_back) due.unshift(LOST);
  return due.length ? due : decisions.decisions.filter((d) => d.state.startsWith("waiting")).map((d) => d.title);
}

function waiting(mine, { decisions }, standing) {
  const shown = new Set(mine.map((item) => item.id));
  const ruled = decisions.filter((d) => d.kind === "decision" && d.state.startsWith("waiting") && !shown.has(d.id));
  if (!mine.length && !ruled.length && !standing.rolled_back) return h("p", { class: "calm" }, "Nothing waits for you.");
  return h("ul", { class: "rows urgent" }, standing.rolled_back ? lost() : null, mine.map(ownDueRow),
    ruled.map((d) => h("li", { key: d.id, class: "row" }, link(toDecision(d.id), h("b", {}, say(d.title, 200))), " ", chip("caution", d.state))));
}

function lost() {
  return h("li", { key: "lost", class: "row overdue" },
    h("div", { class: "line" }, link("#/record", h("b", {}, LOST)), chip("bad", "restore it, or accept the loss")),
    h("div", { class: "said" }, "Restore the newest copy of the ledger. If it is lost for good, this command continues from here and records the loss:"),
    command('moot ledger accept-loss --reason "..."'));
}

function agents(all, cards) {
  const here = all.filter((a) => a.class === "agent" && (a.here || a.holds.length)).sort((a, b) => (b.last_seen_at || "").localeCompare(a.last_seen_at || ""));
  if (!here.length) return [empty("No agent is here."), command("moot run -- TOOL")];
  return h("ul", { class: "rows agents" }, here.map((agent) => h("li", { key: agent.agent, class: "row" },
    h("div", { class: "line" }, who(agent.agent), alive(agent.liveness, agent.label, agent.because), guarded(agent.guarded),
      h("span", { class: "soft" }, ago(agent.last_seen_at))),
    h("div", { class: "said" }, worksOn(agent, cards),
      agent.branch && agent.branch !== agent.work ? ["on ", say(agent.branch, 80), " "] : null,
      agent.worktree ? ["in ", h("code", {}, plain(agent.worktree, 200))] : null),
    agent.holds.length ? h("div", { class: "holds" }, "holds ", agent.holds.slice(0, 8).map((scope) => [h("code", {}, plain(scope, 120)), " "]),
      agent.holds.length > 8 ? `and ${agent.holds.length - 8} more` : null) : null,
    agent.sub_agents.map((sub) => h("div", { class: "sub", key: sub.name }, h("span", { class: "name" }, plain(sub.name)), " ", alive(sub.liveness, sub.label, sub.because), " ", say(sub.kind, 60))))));
}

function worksOn(agent, cards) {
  const own = cards.filter((card) => card.work && (card.work === agent.work || card.agents.includes(agent.agent)));
  if (!own.length && agent.work) return [link(toWork(agent.work), say(agent.work, 80)), " "];
  return own.slice(0, 3).map((card) => h("span", { key: card.key }, link(toWork(card.work), say(card.work, 80)), " ", card.title ? [say(card.title, 120), " "] : null));
}

function guarded(word) {
  if (!word) return null;
  const tone = { guarded: "good", expected: "neutral", watched: "neutral", unguarded: "bad" }[word] || "neutral";
  return chip(tone, word, "who checks its edits");
}

export function overlaps(incursions) {
  if (!incursions.length) return empty("No overlaps.");
  return h("ul", { class: "rows" }, incursions.slice(0, 12).map((line) => h("li", { key: line.id, class: "row" },
    h("div", { class: "line" }, chip(line.withdrawn ? "neutral" : line.label === "Refused" ? "caution" : "bad", line.label), who(line.incoming), " into ", h("code", {}, plain(line.scope, 160)), " of ", who(line.owner),
      h("span", { class: "soft" }, `${line.kind}, owner ${line.owner_liveness}`), h("span", { class: "soft" }, ago(line.at))),
    h("div", { class: "said" }, line.work ? [link(toWork(line.work), say(line.work, 80)), " "] : null, say(line.hint, 300)),
    withdrawal(line.withdrawn))));
}

const VERDICTS = { valid: ["good", "INTACT"], unproven: ["caution", "NOT PROVEN COMPLETE"] };

export function verdict(check) {
  const start = () => post("/api/v1/verify", {}).catch(() => {});
  const known = check.verdict ? VERDICTS[check.verdict.verdict] || ["bad", check.verdict.verdict.toUpperCase()] : null;
  return h("div", { class: "line" },
    check.running ? chip("neutral", "being checked …") : known ? chip(known[0], known[1]) : chip("neutral", check.failed ? "could not be checked" : "not checked yet"),
    check.at ? h("span", { class: "soft" }, "checked ", ago(check.at)) : null,
    check.failed ? say(check.failed, 200) : null,
    h("button", { type: "button", onclick: start, disabled: Boolean(check.running) }, "Check now"));
}

function record(standing, check, unguarded, shared) {
  return [
    verdict(check),
    h("p", {}, `${standing.events} events`, standing.checkpoint ? [`, checkpoint ${standing.checkpoint.number} of `, moment(standing.checkpoint.at)] : ", no checkpoint yet",
      standing.pinned ? ", which covers all of them" : ", which does not cover the newest"),
    standing.rolled_back ? h("p", { class: "bad" }, `${LOST}.`) : null,
    shared?.why_old ? h("p", { class: "caution" }, "What is shown here may be old: ", say(shared.why_old, 300)) : null,
    unguarded.length ? h("p", { class: "caution" }, `${unguarded.length} times a tool worked without a check of its edits.`) : null,
    h("p", {}, link("#/record", "Open the record")),
  ];
}
