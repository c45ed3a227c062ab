// Elements as values, and the one function that puts them on the page. Text is always text: there
// is no way to pass markup. Unchanged nodes are kept, so that scroll, selection and focus stay.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, props, ...children) {
  return { tag, props: props || {}, children: children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== "") };
}

// Fills an element that draws its own content; the page says how, once.
let own = () => {};

export function drawOwnBy(fillIt) {
  own = fillIt;
}

export function put(parent, wanted) {
  const items = (Array.isArray(wanted) ? wanted : [wanted]).flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false && c !== "");
  const known = new Map();
  const loose = [];
  for (const node of [...parent.childNodes]) {
    if (node.mootKey !== undefined) known.set(node.mootKey, node);
    else loose.push(node);
  }
  let next = parent.firstChild;
  for (const item of items) {
    const node = reuse(item, known, loose);
    if (node !== next) parent.insertBefore(node, next);
    else next = next.nextSibling;
    fill(node, item);
  }
  for (const node of [...known.values(), ...loose]) if (node.parentNode === parent) parent.removeChild(node);
}

function reuse(item, known, loose) {
  if (typeof item !== "object") {
    const at = loose.findIndex((n) => n.nodeType === Node.TEXT_NODE);
    return at >= 0 ? loose.splice(at, 1)[0] : document.createTextNode("");
  }
  const { key } = item.props;
  if (key !== undefined && known.has(key)) {
    const node = known.get(key);
    if (node.localName === item.tag) {
      known.delete(key);
      return node;
    }
  }
  if (key === undefined) {
    const at = loose.findIndex((n) => n.localName === item.tag);
    if (at >= 0) return loose.splice(at, 1)[0];
  }
  const node = item.tag === "svg" || item.props.svg ? document.createElementNS(SVG, item.tag) : document.createElement(item.tag);
  if (key !== undefined) node.mootKey = key;
  return node;
}

function fill(node, item) {
  if (typeof item !== "object") {
    const text = plain(item, Infinity);
    if (node.nodeValue !== text) node.nodeValue = text;
    return;
  }
  const before = node.mootProps || {};
  const { props } = item;
  for (const name of Object.keys(before)) if (!(name in props)) set(node, name, undefined, before[name]);
  for (const [name, value] of Object.entries(props)) if (before[name] !== value) set(node, name, value, before[name]);
  node.mootProps = props;
  if (props.own === undefined) put(node, item.children);
  else own(node, props.own);
}

// Allowed attributes: browsers neither run nor follow them.
const PLAIN = /^(class|id|role|title|type|href|target|rel|name|value|placeholder|for|datetime|open|hidden|disabled|scope|colspan|lang|dir|tabindex|rows|maxlength|max|width|height|alt|src|viewBox|d|x|y|cx|cy|r|fill|aria-[a-z]+|data-[a-z-]+)$/;

function set(node, name, value, before) {
  if (name === "key" || name === "own" || name === "svg") return;
  if (name.startsWith("on")) {
    if (before) node.removeEventListener(name.slice(2), before);
    if (value) node.addEventListener(name.slice(2), value);
  } else if (!PLAIN.test(name)) {
    throw new Error(`${name} is not given to elements`);
  } else if (name === "href" && value !== undefined && !isOurs(value)) {
    node.removeAttribute("href");
  } else if (value === undefined || value === null || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : value);
  }
}

function isOurs(address) {
  return String(address).startsWith("#") || String(address).startsWith("/static/");
}

// Marks that reorder text, and invisible characters, are shown as their code points.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufdd0-\ufdef\ufeff\uffa0\ufff9-\ufffb\ufffe\uffff\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]/gu;

export function plain(text, most = 2000) {
  const shown = String(text ?? "").slice(0, most + 1).replace(HIDDEN, (c) => `\u27e8${c.codePointAt(0).toString(16)}\u27e9`);
  return shown.length > most ? `${shown.slice(0, most)} …` : shown;
}

export function say(text, most) {
  return h("bdi", {}, plain(text, most));
}
