// Times in words; the exact time is always in the element's title.

import { h } from "./dom.js";

export function ago(text) {
  if (!text) return null;
  return h("time", { datetime: text, title: text }, since(text));
}

// The time of day, with the day unless it is today.
export function moment(text) {
  const when = new Date(Date.parse(text));
  if (Number.isNaN(when.getTime())) return text;
  const day = when.toDateString() === new Date().toDateString() ? "" : `${when.toLocaleDateString("en-GB", { day: "numeric", month: "short" })} `;
  return h("time", { datetime: text, title: text, "data-fixed": "" }, `${day}${clock(when).slice(0, 5)}`);
}

// Keeps `5 s ago` up to date between reads.
export function tickTimes(root) {
  for (const element of root.querySelectorAll("time[datetime]:not([data-fixed])")) {
    const text = since(element.getAttribute("datetime"));
    if (element.firstChild && element.firstChild.nodeValue !== text) element.firstChild.nodeValue = text;
  }
}

// A phone's clock may differ from the server's: the server's counts.
const MOST_APART = 5000;
let ahead = 0;

export function noteServerTime(text) {
  const apart = Date.now() - Date.parse(text);
  ahead = Math.abs(apart) > MOST_APART ? apart : 0;
}

export function since(text) {
  const seconds = Math.round((Date.now() - ahead - Date.parse(text)) / 1000);
  if (Number.isNaN(seconds)) return text;
  if (seconds < -5) return `in ${span(-seconds)}`;
  return seconds < 5 ? "just now" : `${span(seconds)} ago`;
}

function span(seconds) {
  if (seconds < 90) return `${seconds} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  if (seconds < 129600) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86400)} d`;
}

export function clock(date) {
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => String(n).padStart(2, "0")).join(":");
}
