// Times as people say them; the exact one is always in the element.

import { h } from "./dom.js";

export function ago(text) {
  if (!text) return null;
  return h("time", { datetime: text, title: text }, since(text));
}

export function since(text) {
  const seconds = Math.round((Date.now() - Date.parse(text)) / 1000);
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
