// The record: whether it is intact, its keys, its histories, and the events of one of them.

import { read } from "./api.js";
import { h, plain, say } from "./dom.js";
import { alive, chip, command, empty, link, section, table, toStream, toWork, who } from "./parts.js";
import { overlaps, verdict } from "./screen-now.js";
import { ago, moment } from "./time.js";

export const record = {
  title: "Record",
  reads: () => ({ check: "/api/v1/verify", status: "/api/v1/status", keys: "/api/v1/keys", log: "/api/v1/log?limit=200", agents: "/api/v1/agents", sessions: "/api/sessions" }),
  shows: ["log", "status", "verify", "agents", "sessions"],
  draw({ check, status, keys, log, agents, sessions }) {
    const streams = [...log.streams].sort((a, b) => (b.last_at || "").localeCompare(a.last_at || ""));
    return [
      section("Is it intact?", "intact", verdict(check), details(check), command("moot verify")),
      section("Histories", "histories", table("Histories, the newest act first", ["History", "Events", "Last"],
        streams.map((line) => h("tr", { key: line.id }, h("td", {}, link(toStream(line.id), say(line.id, 120))), h("td", { class: "number" }, line.events), h("td", {}, ago(line.last_at))))),
        log.total > streams.length ? empty(`${log.total - streams.length} older ones are not listed.`) : null),
      section("Keys", "keys", h("dl", {}, h("dt", {}, "Fingerprint"), h("dd", {}, h("code", {}, keys.fingerprint)), h("dt", {}, "Root"), h("dd", {}, h("code", {}, keys.root)), h("dt", {}, "Checkpoints"), h("dd", {}, h("code", {}, keys.checkpoint))),
        table("Whose keys", ["Name", "Class", "Status", "Kept in", "Since"],
          agents.agents.map((agent) => h("tr", { key: agent.agent }, h("td", {}, who(agent.agent)), h("td", {}, agent.class), h("td", {}, agent.status), h("td", {}, h("code", { title: plain(agent.custodian || "", 80) }, plain(agent.custodian || "", 80).slice(0, 8))), h("td", {}, ago(agent.since)))))),
      status.shared ? section("Machines", "machines", machines(status.shared)) : null,
      section("Overlaps", "overlaps", overlaps(sessions.incursions)),
      section("Unguarded times", "unguarded", status.unguarded.length ? h("ul", { class: "rows" }, status.unguarded.map((span, place) => h("li", { key: place, class: "row" }, h("div", { class: "line" }, who(span.agent), say(span.tool, 60), h("span", {}, "from ", moment(span.since), span.until ? [" to ", moment(span.until)] : " until now")), h("div", { class: "said" }, say(span.why, 300))))) : empty("Every tool's edits were checked.")),
    ];
  },
};

function machines(shared) {
  return [
    shared.why_old ? h("p", { key: "old", class: "caution" }, "What is shown here may be old: ", say(shared.why_old, 300)) : null,
    h("p", { key: "kept" }, shared.here ? ["Kept at ", h("code", {}, plain(shared.keeper, 120)), ". This machine is ", h("b", {}, plain(shared.here, 60)), "."] : ["Kept on this machine, at ", h("code", {}, plain(shared.keeper, 120)), "."],
      shared.keeper_version ? ` The keeper's moot is ${plain(shared.keeper_version, 40)}.` : null),
    shared.machines.length ? table("Machines that share this ledger", ["Machine", "Agents", "Moot", "Last seen", "Status"],
      shared.machines.map((row) => h("tr", { key: `${row.name} ${row.joined_at}` }, h("td", {}, plain(row.name, 60)), h("td", { class: "number" }, row.agents), h("td", {}, plain(row.version, 40)), h("td", {}, row.last_seen_at ? ago(row.last_seen_at) : row.here ? "here" : "never"), h("td", {}, row.has_left ? chip("neutral", "left") : row.is_revoked ? chip("bad", "removed") : row.here ? chip("neutral", "this one") : ""))))
      : shared.here ? null : empty("No machine has joined yet: moot invite"),
  ];
}

function details(check) {
  if (!check.verdict) return null;
  const names = ["integrity", "authenticity", "completeness", "freshness", "custody"];
  return h("dl", {}, names.filter((name) => check.verdict[name]).map((name) => [h("dt", { key: `t${name}` }, name), h("dd", { key: `d${name}` }, say(check.verdict[name], 400))]));
}

// One history: its newest events, and older ones on request.
const older = new Map();

export const stream = {
  reads: (id) => ({ log: `/api/v1/log?stream=${encodeURIComponent(id)}&limit=100` }),
  shows: ["log"],
  title: (id) => [id],
  draw({ log }, again) {
    const events = [...(older.get(log.id) || []), ...log.events];
    const first = events.length ? events[0].seq : 0;
    const more = async () => {
      const page = await read(`/api/v1/log?stream=${encodeURIComponent(log.id)}&before=${first}&limit=200`);
      older.set(log.id, [...page.events, ...(older.get(log.id) || [])]);
      again();
    };
    return [
      command(`moot verify ${log.id}`),
      h("ol", { key: "events", class: "thread" }, [...events].reverse().map((event) => h("li", { key: event.seq, class: "row" },
        h("div", { class: "line" }, h("span", { class: "number" }, `#${event.seq}`), h("b", {}, plain(event.type || "unreadable", 80)), event.actor ? who(event.actor) : null, h("span", { class: "soft" }, ago(event.at))),
        event.unreadable ? h("p", { class: "bad" }, say(event.unreadable, 300)) : null,
        h("details", {}, h("summary", {}, "What it says"), h("pre", {}, plain(JSON.stringify(event.data, null, 1), 20000)), h("p", { class: "soft" }, "hash ", h("code", {}, event.hash)))))),
      first > 0 ? h("p", { key: "more" }, h("button", { type: "button", onclick: more }, "Older events")) : null,
    ];
  },
};

const AGENT_FACTS = [["tool", "Tool"], ["work", "Works on"], ["branch", "Branch"], ["worktree", "Worktree"], ["class", "Class"], ["status", "Status"], ["family", "Family"], ["since", "Here since"], ["guarded", "Its edits"], ["custodian", "Key folder"], ["kid", "Key"], ["public", "Public key"]];

export const agent = {
  reads: (name) => ({ shown: `/api/v1/agents/${encodeURIComponent(name)}`, mail: `/api/v1/mail?agent=${encodeURIComponent(name)}&limit=20`, scopes: `/api/v1/scopes?agent=${encodeURIComponent(name)}` }),
  shows: ["agents", "sessions", "mail"],
  title: (name) => [name],
  draw({ shown, mail, scopes }) {
    return [
      h("p", { key: "alive", class: "line" }, alive(shown.liveness, shown.label, shown.because), h("span", { class: "soft" }, plain(shown.because || "", 200))),
      h("dl", { key: "facts" }, AGENT_FACTS.filter(([name]) => typeof shown[name] === "string" && shown[name] && shown[name] !== shown.agent).map(([name, label]) => [h("dt", { key: `t${name}` }, label), h("dd", { key: `d${name}` }, name === "since" ? moment(shown[name]) : say(shown[name], 300))])),
      section("Holds", "holds", scopes.reservations.length ? h("ul", { class: "rows" }, scopes.reservations.map((held) => h("li", { key: held.scope, class: "row" }, h("code", {}, plain(held.scope, 200)), " ", held.work ? link(toWork(held.work), say(held.work, 80)) : null, " since ", moment(held.since), held.expires_at ? [" until ", moment(held.expires_at)] : null))) : empty("Nothing.")),
      section("Mail", "agent-mail", mail.messages.length ? h("ul", { class: "rows" }, mail.messages.map((line) => h("li", { key: line.id, class: "row" }, link(`#/mail/${encodeURIComponent(line.id)}`, say(line.subject, 160)), " ", line.owed_by.includes(shown.agent) ? chip("caution", "owes an answer") : null))) : empty("None.")),
    ];
  },
};
