// Notifications of what waits for the user: only if they are switched on, and only what is new.

import { h } from "./dom.js";

const WANTED = "moot-notify";
let told = null;

export function wantsNotices() {
  return localStorage.getItem(WANTED) === "yes" && "Notification" in window && Notification.permission === "granted";
}

export function noticeSwitch(changed) {
  if (!("Notification" in window)) return null;
  const flip = async () => {
    if (wantsNotices()) localStorage.removeItem(WANTED);
    else if (await Notification.requestPermission() === "granted") localStorage.setItem(WANTED, "yes");
    changed();
  };
  return h("button", { type: "button", "aria-pressed": String(wantsNotices()), onclick: flip }, wantsNotices() ? "Notifications are on" : "Notify me");
}

// The announcer tells a screen reader the same.
export function tellNew(waiting) {
  const before = told;
  told = new Set(waiting);
  if (before === null) return;
  const fresh = waiting.filter((text) => !before.has(text));
  if (!fresh.length) return;
  document.getElementById("announcer").textContent = `Waits for you: ${fresh[0]}`;
  if (wantsNotices() && document.hidden) new Notification("Moot: waits for you", { body: fresh[0].slice(0, 200), tag: "moot" });
}
