// The page: which screen is shown, what it reads, when it is read again, and the keys.

import { post, read } from "./api.js";
import { drawOwnBy, h, plain, put, say } from "./dom.js";
import { Live } from "./live.js";
import { noticeSwitch, tellNew, wantsNotices } from "./notify.js";
import { command } from "./parts.js";
import { fillReport } from "./report.js";
import { decision, decisions } from "./screen-decisions.js";
import { mail, message } from "./screen-mail.js";
import { now, waitingForPerson } from "./screen-now.js";
import { agent, record, stream } from "./screen-record.js";
import { search } from "./screen-search.js";
import { conversation, sessions } from "./screen-sessions.js";
import { enter, forget, onNewSecret } from "./secret.js";
import { clock, tickTimes } from "./time.js";

const SCREENS = { now, sessions, decisions, mail, record, search };
const DRAWERS = { sessions: conversation, decisions: decision, mail: message, record: stream, agents: agent };
const NAV = ["now", "sessions", "decisions", "mail", "record"];
const KEYS = { "1": "now", "2": "sessions", "3": "decisions", "4": "mail", "5": "record" };

const at = (id) => document.getElementById(id);
const drawer = at("drawer");
const state = { screen: "now", inside: null, standing: "connecting", read: null, drawing: 0, retry: null };
let live = null;

drawOwnBy(fillReport);

function route() {
  const [name, ...rest] = location.hash.replace(/^#\/?/, "").split("/");
  const inside = rest.length && rest[0] ? decode(rest.join("/")) : null;
  if (name === "agents") return { screen: state.screen, drawer: "agents", inside };
  if (name === "search") return { screen: "search", drawer: null, inside };
  const screen = SCREENS[name] ? name : "now";
  return { screen, drawer: inside && DRAWERS[screen] ? screen : null, inside };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function readAll(addresses) {
  const names = Object.keys(addresses);
  const values = await Promise.all(names.map((name) => read(addresses[name])));
  return Object.fromEntries(names.map((name, place) => [name, values[place]]));
}

// Reads what the screen and the drawer show and draws what differs. A later call cancels an earlier
// one, so that old data never replaces new data.
async function refresh() {
  const mine = ++state.drawing;
  const shown = route();
  state.screen = shown.screen;
  const screen = SCREENS[shown.screen];
  try {
    const inside = shown.screen === "search" ? shown.inside : null;
    const data = await readAll(screen.reads(inside));
    const opened = shown.drawer ? await readAll(DRAWERS[shown.drawer].reads(shown.inside)).catch((error) => error) : null;
    if (mine !== state.drawing) return;
    state.read = new Date();
    complain(null);
    if (state.standing === "reconnecting" && live) live.sayStanding();
    drawScreen(screen, data);
    drawDrawer(shown, opened);
    if (shown.screen === "search" && document.activeElement !== at("words")) at("words").value = shown.inside || "";
    document.body.dataset.place = location.hash;
    if (shown.screen === "now") tellNew(waitingForPerson(data));
  } catch (error) {
    if (mine === state.drawing) complain(error);
  }
  drawTop();
}

function drawScreen(screen, data) {
  document.title = `${screen.title} · Moot`;
  put(at("screen"), [h("h1", { key: "title" }, screen.title), ...[screen.draw(data, (readAgain) => (readAgain ? refresh() : drawScreen(screen, data)))].flat(), foot()]);
}

function foot() {
  return h("footer", { key: "foot", class: "foot" }, noticeSwitch(() => refresh()), h("button", { type: "button", onclick: showKeys }, "Keys  ?"), h("button", { type: "button", onclick: leave }, "Leave"));
}

// Drops both halves of this browser's secret; the printed address gives access again.
async function leave() {
  await post("/api/v1/leave", {}).catch(() => {});
  forget();
  state.read = null;
  if (live) live.stop();
  closeDrawer();
  complain({ status: 401 });
  drawTop();
}

function drawDrawer(shown, data) {
  if (!shown.drawer) {
    if (drawer.open) drawer.close();
    return;
  }
  const what = DRAWERS[shown.drawer];
  const failed = data instanceof Error;
  const [title, under] = failed ? [shown.inside] : what.title(shown.inside, data);
  const body = failed ? h("p", { class: "notice" }, `${data.message}`) : what.draw(data, () => drawDrawer(shown, data));
  put(drawer, [
    h("header", { key: "head" }, h("div", {}, h("h2", { id: "drawer-title" }, say(title, 120)), under ? h("p", { class: "soft" }, say(under, 120)) : null), h("button", { type: "button", class: "close", onclick: closeDrawer, "aria-label": "Close" }, "✕")),
    h("div", { key: `body ${shown.drawer} ${shown.inside}`, class: "inside" }, body),
  ]);
  if (!drawer.open) drawer.showModal();
}

function closeDrawer() {
  location.hash = `#/${state.screen}`;
}

function drawTop() {
  put(at("screens"), NAV.map((name) => h("a", { key: name, href: `#/${name}`, "aria-current": name === state.screen ? "page" : false }, SCREENS[name].title)));
  const words = { live: "live", connecting: "connecting", reconnecting: "reconnecting", paused: "paused", closed: "no access" }[state.standing];
  const asOf = state.read && state.standing !== "live" ? `, as of ${clock(state.read)}` : "";
  const standing = at("standing");
  standing.dataset.state = state.standing;
  put(standing, `${words}${asOf}`);
}

function complain(error) {
  const notice = at("notice");
  notice.hidden = !error;
  if (!error) return;
  const lost = error.status === undefined;
  if (lost) {
    state.standing = "reconnecting";
    clearTimeout(state.retry);
    state.retry = setTimeout(refresh, 1500);
  }
  if (error.status === 401) {
    state.standing = "closed";
    put(notice, ["This tab has no access, or its access has ended. Open the address that ", h("code", {}, "moot serve"), " printed."]);
    if (!state.read) put(at("screen"), []);
  } else {
    put(notice, lost ? "The server does not answer; this page reconnects by itself." : [plain(error.message, 400), error.hint ? [" ", command(error.hint)] : null]);
  }
}

// Reads again what changed, if it is shown; null means everything.
function changed(names) {
  const shown = route();
  const screens = [...SCREENS[shown.screen].shows, ...(shown.drawer ? DRAWERS[shown.drawer].shows : [])];
  if (names === null || names.some((name) => screens.includes(name))) refresh();
  if (shown.screen !== "now" && wantsNotices()) tellWaiting();
}

// Notifies the user on every screen, if notifications are on.
async function tellWaiting() {
  const waiting = await readAll({ status: "/api/v1/status", decisions: "/api/v1/decisions" }).catch(() => null);
  if (waiting) tellNew(waitingForPerson(waiting));
}

function showKeys() {
  const rows = [["1 – 5", "Now, Sessions, Decisions, Mail, Record"], ["/", "search"], ["j  k", "next, previous row"], ["Enter", "open it"], ["Esc", "close"], ["?", "these keys"]];
  put(at("help"), [h("h2", { id: "help-title" }, "Keys"), h("dl", {}, rows.map(([key, what]) => [h("dt", { key: `t${key}` }, h("kbd", {}, key)), h("dd", { key: `d${key}` }, what)])), h("button", { type: "button", onclick: () => at("help").close() }, "Close")]);
  at("help").showModal();
}

function move(step) {
  const links = [...(drawer.open ? drawer : at("screen")).querySelectorAll("li.row a, article.card h3 a, tbody a")];
  if (!links.length) return;
  const here = links.indexOf(document.activeElement);
  links[Math.min(Math.max(here + step, 0), links.length - 1)].focus();
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (event.key === "?") showKeys();
  else if (event.key === "/") at("words").focus();
  else if (event.key === "j" || event.key === "k") move(event.key === "j" ? 1 : -1);
  else if (KEYS[event.key] && !drawer.open) location.hash = `#/${KEYS[event.key]}`;
  else return;
  event.preventDefault();
});

drawer.addEventListener("cancel", (event) => { event.preventDefault(); closeDrawer(); });
drawer.addEventListener("click", (event) => { if (event.target === drawer) closeDrawer(); });
at("search").addEventListener("submit", (event) => {
  event.preventDefault();
  location.hash = `#/search/${encodeURIComponent(at("words").value)}`;
});
window.addEventListener("hashchange", () => { refresh(); });

async function begin() {
  drawTop();
  onNewSecret(() => (live ? live.again() : start()));
  if (await enter().catch(() => false)) {
    await start();
  } else {
    complain({ status: 401 });
    drawTop();
  }
}

async function start() {
  await refresh();
  live = new Live({
    changed,
    standing: (word) => { state.standing = word; if (word === "closed") complain({ status: 401 }); drawTop(); },
    wantsHidden: wantsNotices,
  });
  setInterval(() => { if (!document.hidden && state.standing === "live") refresh(); }, 30000);
  setInterval(() => { if (!document.hidden) tickTimes(document); }, 1000);
}

begin();
