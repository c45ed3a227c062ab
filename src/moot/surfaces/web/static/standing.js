// The current state of a decision, above its report: whose turn it is and how long, the clock of a
// parliament, what a trace waits for, where a question is argued.

import { h, plain, say } from "./dom.js";
import { chip, link, toDecision, who } from "./parts.js";
import { ago, moment } from "./time.js";

export function standing({ decision, debate, parliament, trace }) {
  if (debate) return facts(ofDebate(debate));
  if (parliament) return facts(ofParliament(parliament));
  if (trace) return facts(ofTrace(trace));
  return decision ? facts(ofDecision(decision)) : null;
}

function facts(rows) {
  return h("dl", { key: "standing", class: "standing-now" }, rows.filter(Boolean).map(([name, ...value]) => [
    h("dt", { key: `t ${name}` }, name), h("dd", { key: `d ${name}` }, value)]));
}

// A share as a bar and in words.
function used(name, count, most, what) {
  return [name, h("span", { class: "used" }, h("progress", { value: Math.min(count, most), max: most, "aria-label": name }), ` ${count} of ${most}${what ? ` ${what}` : ""}`)];
}

function names(all) {
  return all.map((name) => [who(name), " "]);
}

function ofDebate(debate) {
  const ended = debate.ended_at_round !== null || debate.state.startsWith("ended");
  const last = Math.max(0, ...debate.entries.map((entry) => entry.round || 0));
  const { consensus } = debate;
  return [
    ended ? null : ["Turn of", debate.may_speak.length ? names(debate.may_speak) : debate.open_entry ? [who(debate.open_entry.author), " writes now"] : "no agent: it waits for its operator"],
    ended || !debate.deadline ? null : ["Time", debate.timed_out ? [chip("bad", "over"), " since ", moment(debate.deadline)] : [ago(debate.deadline), " it is over"]],
    used("Round", debate.round, Math.max(debate.round, last + debate.rounds_left)),
    ["For it", consensus.approvers.length ? names(consensus.approvers) : "no one yet"],
    consensus.rejecters.length ? ["Against it", names(consensus.rejecters)] : null,
    consensus.neutral.length || consensus.deferred.length ? ["Undecided", names([...consensus.neutral, ...consensus.deferred])] : null,
    consensus.missing.length && !ended ? ["Not spoken yet", names(consensus.missing)] : null,
    consensus.score === null ? null : ["Agreement", `${Math.round(consensus.score * 100)} %, ${Math.round(consensus.threshold * 100)} % needed (${consensus.mode}${consensus.round ? `, round ${consensus.round}` : ""}${consensus.provisional ? ", in progress" : ""})`],
  ];
}

function ofParliament(sitting) {
  return [
    used("Round", sitting.round, sitting.max_rounds, sitting.round_running ? "" : "(not running)"),
    sitting.round ? used("Clock", sitting.exchanges, sitting.max_exchanges, "exchanges used") : null,
    sitting.round ? ["An answer", `at most ${sitting.response_budget} sentences`] : null,
    ["Bill", sitting.bill_version ? [say(sitting.bill_title, 160), ` version ${sitting.bill_version}`] : "not drafted yet", sitting.drafter ? [", by ", seatName(sitting, sitting.drafter)] : null],
    ["Vote", sitting.missing_votes.length && sitting.status === "vote" ? ["waits for ", sitting.missing_votes.map((seat) => [seatName(sitting, seat), " "])] : sitting.may_vote ? "may be called" : "not yet: a motive is badly served"],
    ["Motives", h("ul", { class: "seats" }, sitting.seats.map((seat) => h("li", { key: seat.id }, say(seat.name, 60), " ", who(seat.agent), seat.expelled ? chip("bad", "expelled") : seat.quiet ? chip("caution", "quiet") : null,
      Object.entries(seat.satisfaction).map(([motive, score]) => chip(score === null ? "neutral" : score < 3 ? "bad" : "good", `${motive} ${score === null ? "not asked" : `${score} of 5`}`)))))],
    sitting.amendments.length ? ["Amendments", sitting.amendments.map((each) => h("div", { key: each.id }, h("code", {}, plain(each.id, 40)), " ", say(each.description, 200), " ", chip(each.carried ? "good" : "neutral", each.carried ? "has its support" : each.status)))] : null,
  ];
}

function seatName(sitting, id) {
  const seat = sitting.seats.find((each) => each.id === id);
  return say(seat ? seat.name : id, 60);
}

function ofTrace(trace) {
  const roles = Object.entries(trace.roles);
  return [
    ["Task", say(trace.task, 400)],
    ["Parts", h("span", { class: "line" }, roles.map(([role, agent]) => h("span", { key: role, class: "receiver" }, h("span", { class: "soft" }, role), who(agent))))],
    trace.intents.length ? ["Wants to run", trace.intents.map((intent) => h("div", { key: intent.id }, h("code", {}, plain((intent.command || [intent.tool]).join(" "), 300)), " ", chip(intent.risk === "low" ? "neutral" : "caution", `risk ${intent.risk}`), intent.waits_for_critic.length ? chip("caution", "waits for the critic") : null))] : null,
    trace.running.length ? ["Runs now", trace.running.map((run) => h("div", { key: run.id }, h("code", {}, plain(run.tool, 80)), " since ", moment(run.since), run.alive === false ? chip("bad", "its process has exited") : null))] : null,
    ["Runs", `${trace.runs.completed} ended well, ${trace.runs.failed} failed`],
    ["Claims", trace.claims.length ? trace.claims.map((claim) => h("div", { key: claim.id }, h("code", {}, claim.id), " ", say(claim.text || "", 300), " ", claim.challenged ? chip("bad", "challenged") : chip("neutral", "stands"))) : "none yet"],
  ];
}

function ofDecision(decision) {
  const answered = decision.answers.map((each) => each.agent);
  const silent = decision.participants.map((each) => each.agent).filter((name) => !answered.includes(name));
  const { result, motion, session } = decision;
  return [
    ["First answers", `${answered.length} of ${decision.participants.length}`, silent.length ? [", not yet from ", names(silent)] : null],
    motion ? ["Motion", say(motion.text, 400)] : null,
    result ? ["Vote", say(result.summary || result.result, 300)] : null,
    result && result.dissent && result.dissent.length ? ["Dissent", names(result.dissent)] : null,
    session ? ["Argued in", link(toDecision(session.id), plain(session.id, 80))] : null,
    decision.superseded_by ? ["Superseded by", link(toDecision(`decision/${decision.superseded_by}`), plain(decision.superseded_by, 40))] : null,
  ];
}
