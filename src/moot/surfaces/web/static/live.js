// Live events: one connection for all tabs of this browser. The tab that holds the lock listens and
// tells the others; hidden tabs do not listen unless notifications are on.

import { ticketFor } from "./api.js";

const channel = new BroadcastChannel("moot-live");
const EVENTS = "/api/v1/events";

export class Live {
  constructor({ changed, standing, wantsHidden }) {
    this.changed = changed;
    this.standing = standing;
    this.wantsHidden = wantsHidden;
    this.source = null;
    this.release = null;
    channel.onmessage = ({ data }) => this.hear(data);
    document.addEventListener("visibilitychange", () => this.consider());
    this.consider();
  }

  hear(data) {
    if (data.changed) this.changed(data.changed === "all" ? null : data.changed);
    if (data.standing && !this.source) this.standing(data.standing);
    if (data.ask && this.source) channel.postMessage({ standing: this.isOpen() ? "live" : "reconnecting" });
  }

  isOpen() {
    return this.source !== null && this.source.readyState === EventSource.OPEN;
  }

  consider() {
    const wanted = !document.hidden || this.wantsHidden();
    if (wanted && !this.waiting) this.lead();
    else if (!wanted) this.stop();
  }

  lead() {
    this.waiting = new AbortController();
    channel.postMessage({ ask: true });
    navigator.locks.request("moot-live", { signal: this.waiting.signal }, () => {
      this.connect();
      return new Promise((resolve) => { this.release = resolve; });
    }).catch(() => {});
    this.changed(null);
  }

  stop() {
    if (this.waiting) this.waiting.abort();
    this.waiting = null;
    if (this.source) this.source.close();
    this.source = null;
    clearTimeout(this.retry);
    if (this.release) this.release();
    this.release = null;
    this.standing("paused");
  }

  async connect() {
    let address;
    try {
      address = await ticketFor(EVENTS);
    } catch (error) {
      this.lost(error);
      return;
    }
    const source = new EventSource(address);
    this.source = source;
    source.onopen = () => {
      this.tell({ standing: "live", changed: this.wasLost ? null : undefined });
      this.wasLost = false;
    };
    source.onmessage = ({ data }) => this.tell({ changed: JSON.parse(data).changed });
    source.onerror = () => {
      source.close();
      this.lost();
    };
  }

  // A ticket is valid once, so a lost connection needs a new one.
  lost(error) {
    this.source = null;
    this.wasLost = true;
    this.tell({ standing: error && error.status === 401 ? "closed" : "reconnecting" });
    if (error && error.status === 401) return;
    this.retry = setTimeout(() => this.waiting && this.connect(), 1000);
  }

  // A read worked again: the tab that listens knows whether the connection is live.
  sayStanding() {
    if (this.isOpen()) this.standing("live");
    else channel.postMessage({ ask: true });
  }

  // There is a new secret: connect again.
  again() {
    clearTimeout(this.retry);
    if (this.release && !this.source) this.connect();
    else channel.postMessage({ ask: true });
    this.changed(null);
  }

  tell(data) {
    if (data.standing) this.standing(data.standing);
    if (data.changed !== undefined) this.changed(data.changed);
    channel.postMessage(data.changed === null ? { ...data, changed: "all" } : data);
  }
}
