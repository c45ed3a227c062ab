// A report inside the page: the markup that `moot report` writes, in a shadow tree with its own
// style. It was escaped where it was made; here only known, passive elements and attributes are
// copied.

const ELEMENTS = new Set(("main header footer section div span p h1 h2 h3 h4 ul ol li dl dt dd table thead tbody tr th td caption figure figcaption blockquote "
  + "cite code pre b strong em i small bdi time details summary hr br abbr kbd samp q sup sub svg g path rect circle line polyline polygon text tspan title desc").split(" "));
const ATTRIBUTES = /^(class|id|role|dir|lang|title|tabindex|scope|colspan|rowspan|datetime|open|viewbox|d|x|y|x1|y1|x2|y2|cx|cy|r|rx|ry|width|height|points|transform|text-anchor|dominant-baseline|dx|dy|stroke-dasharray|preserveaspectratio|aria-[a-z]+|data-[a-z-]+)$/;
const SVG = "http://www.w3.org/2000/svg";

export function fillReport(element, html) {
  if (element.mootReport === html) return;
  element.mootReport = html;
  const root = element.shadowRoot || element.attachShadow({ mode: "open" });
  const made = new DOMParser().parseFromString(html, "text/html");
  const style = document.createElement("link");
  style.rel = "stylesheet";
  style.href = "/static/report.css";
  root.replaceChildren(style, ...[...made.body.childNodes].map(copy).filter(Boolean));
}

function copy(node) {
  if (node.nodeType === Node.TEXT_NODE) return document.createTextNode(node.nodeValue);
  if (node.nodeType !== Node.ELEMENT_NODE || !ELEMENTS.has(node.localName)) return null;
  const made = node.namespaceURI === SVG ? document.createElementNS(SVG, node.localName) : document.createElement(node.localName);
  for (const { name, value } of node.attributes) if (ATTRIBUTES.test(name.toLowerCase())) made.setAttribute(name, value);
  made.append(...[...node.childNodes].map(copy).filter(Boolean));
  return made;
}
