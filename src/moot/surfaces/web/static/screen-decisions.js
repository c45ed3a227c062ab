// Decisions: what is being decided and what was; one of them with its report, as it is drawn
// everywhere, and with what a person is asked for.

import { openApart, post } from "./api.js";
import { h, say } from "./dom.js";
import { chip, command, dueRow, empty, link, section, toDecision, toStream, who } from "./parts.js";
import { standing } from "./standing.js";
import { ago } from "./time.js";

const NAMES = { decision: "Question", debate: "Debate", parliament: "Parliament", trace: "Trace" };
const filter = { kind: "" };

export const decisions = {
  title: "Decisions",
  reads: () => ({ list: "/api/v1/decisions" }),
  shows: ["decisions", "agenda"],
  draw({ list }, again) {
    const change = (event) => { filter.kind = event.target.value; again(); };
    const shown = list.decisions.filter((line) => !filter.kind || line.kind === filter.kind);
    const open = shown.filter((line) => line.open);
    const ended = shown.filter((line) => !line.open);
    return [
      h("form", { key: "filters", class: "filters", "aria-label": "Filters", onsubmit: (event) => event.preventDefault() },
        h("label", {}, "Kind ", h("select", { onchange: change }, h("option", { value: "" }, "all"), Object.entries(NAMES).map(([kind, name]) => h("option", { key: kind, value: kind }, name))))),
      section("Open", "open", open.length ? rows(open) : empty("Nothing is being decided.")),
      section("Decided and ended", "ended", ended.length ? rows(ended) : empty("Nothing has ended yet.")),
      list.more ? empty(`${list.more} older ones are not listed.`) : null,
    ];
  },
};

function rows(lines) {
  return h("ul", { class: "rows" }, lines.map((line) => h("li", { key: line.id, class: "row" },
    h("div", { class: "line" }, h("span", { class: "kind" }, NAMES[line.kind] || line.kind), link(toDecision(line.id), h("b", {}, say(line.title, 200))), chip(tone(line), stateWords(line.state)), h("span", { class: "soft" }, ago(line.last_at))),
    line.waits_for.length ? h("div", { class: "said" }, "turn of ", line.waits_for.map((name) => [who(name), " "]), line.by ? ["due ", ago(line.by)] : null) : null)));
}

function stateWords(state) {
  return state.replace("ended:", "ended: ").replaceAll("max-rounds", "no consensus").replaceAll(/[-_]/g, " ");
}

function tone(line) {
  if (/veto|failed|aborted|not-carried|rejected|deadlock/.test(line.state)) return "bad";
  if (/^waiting|max-rounds|closed/.test(line.state)) return "caution";
  return line.open ? "neutral" : "good";
}

export const decision = {
  reads: (id) => ({ shown: `/api/v1/decisions/${encodeURIComponent(id)}`, drawn: `/api/v1/report/${encodeURIComponent(id)}`, words: "/api/v1/words" }),
  shows: ["decisions", "agenda"],
  title: (id, { shown }) => [shown.line.title, id],
  draw({ shown, drawn, words }) {
    const { line } = shown;
    return [
      h("p", { key: "line", class: "line" }, h("span", { class: "kind" }, NAMES[line.kind] || line.kind), chip(tone(line), stateWords(line.state)), h("span", { class: "soft" }, ago(line.last_at)),
        line.by && !shown.standing.debate ? h("span", {}, "time limit ", ago(line.by)) : null),
      shown.word ? personsRuling(shown.word, words) : null,
      standing(shown.standing),
      shown.due.length && !shown.word ? h("ul", { key: "due", class: "rows" }, shown.due.map((item) => dueRow(item))) : null,
      h("p", { key: "links", class: "line" },
        h("button", { type: "button", onclick: () => openApart(`/report/${encodeURIComponent(line.id)}`) }, "Report in a tab"),
        link(toStream(line.id), "Its record"),
        line.kind === "decision" ? command(`moot receipt ${line.id.split("/")[1]} -o receipt.html`) : command(`moot verify ${line.id}`)),
      h("div", { key: "report", class: "report", own: drawn.html }),
    ];
  },
};

// What a person must rule on: the exact text and its hash, and the command to copy. With `--decide`
// the terminal in which the server runs asks for the passphrase, which is never typed here.
function personsRuling(word, words) {
  return h("section", { key: "word", class: "asked", "aria-label": "Your ruling" },
    h("h3", {}, "Your ruling is needed"),
    h("blockquote", { class: "words" }, say(word.text, 20000)),
    h("p", { class: "soft" }, "SHA-256 ", h("code", {}, word.sha256)),
    command(word.command),
    words.offered && word.words.length ? offer(word, words) : words.offered ? h("p", { class: "soft" }, "Type the command in your terminal: DIR is the folder of this session's files.") : h("p", { class: "soft" }, "With moot serve --decide you can prepare it here; the terminal then asks for your passphrase."));
}

function offer(word, words) {
  const send = async (event) => {
    event.preventDefault();
    const form = event.currentTarget;
    const said = form.querySelector("[role=status]");
    const chosen = event.submitter.value;
    try {
      await post("/api/v1/words", { decision: word.decision, word: chosen, reason: form.reason.value, position: word.position, sha256: word.sha256 });
      said.textContent = "Look at the terminal: it shows this text and its hash, and asks for your passphrase there.";
    } catch (error) {
      said.textContent = `${error.message}: ${error.hint}`;
    }
  };
  const last = words.decision === word.decision && words.state ? { waiting: "The terminal waits for your passphrase.", given: "Your ruling was recorded.", not_given: "Nothing was signed." }[words.state] : "";
  return h("form", { onsubmit: send, class: "word" },
    h("label", { for: "reason" }, "Why"), h("textarea", { id: "reason", name: "reason", rows: "2", maxlength: "4000" }),
    word.kind === "parliament" ? h("p", { class: "soft" }, "A veto gives your reason as guidance: it sends the bill back, or ends the session if no round is left.") : null,
    h("p", { class: "line" }, word.words.map((each) => h("button", { key: each, type: "submit", value: each }, `Prepare: ${each}`))),
    h("p", { role: "status" }, last));
}
