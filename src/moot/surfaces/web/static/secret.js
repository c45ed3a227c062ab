// The two halves of the secret. The cookie is the browser's and no script reads it; the other half
// is this tab's. A new tab asks the open ones for it.

const HALF = "moot-half";
const channel = new BroadcastChannel("moot-secret");
let half = sessionStorage.getItem(HALF) || "";
let hearNew = () => {};

// After a restart the user opens the new address in one tab: the other tabs then use it as well.
channel.onmessage = ({ data }) => {
  if (data.ask && half) channel.postMessage({ half });
  if (data.entered) {
    keep(data.entered);
    hearNew();
  }
};

export function onNewSecret(hear) {
  hearNew = hear;
}

export function ownHalf() {
  return half;
}

export function forget() {
  half = "";
  sessionStorage.removeItem(HALF);
}

function keep(text) {
  half = text;
  sessionStorage.setItem(HALF, text);
}

// Returns true once this tab has access; removes the token from the address at once.
export async function enter() {
  const token = location.pathname === "/enter" ? location.hash.slice(1) : "";
  if (location.pathname === "/enter") history.replaceState(null, "", "/");
  if (token) {
    const reply = await fetch("/api/v1/enter", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ token }),
    });
    if (reply.ok) {
      keep((await reply.json()).data.half);
      channel.postMessage({ entered: half });
      return true;
    }
  }
  return half !== "" || askOtherTabs();
}

function askOtherTabs() {
  return new Promise((resolve) => {
    const hear = ({ data }) => {
      if (!data.half) return;
      keep(data.half);
      done(true);
    };
    const done = (found) => {
      clearTimeout(timer);
      channel.removeEventListener("message", hear);
      resolve(found);
    };
    const timer = setTimeout(() => done(false), 400);
    channel.addEventListener("message", hear);
    channel.postMessage({ ask: true });
  });
}
