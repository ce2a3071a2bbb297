// Elements of the page. Text is always text: a name from the network is never read as HTML.

const svgNamespace = "http://www.w3.org/2000/svg";
const mostLetters = 160;

/** An element with attributes, listeners (`onclick`) and children; null and false are left out. */
export function el(name, attributes = {}, ...children) {
  return fill(document.createElement(name), attributes, children);
}

/** The same for SVG. */
export function svg(name, attributes = {}, ...children) {
  return fill(document.createElementNS(svgNamespace, name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (key === "value" || key === "checked") element[key] = value;
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/** A text of somebody else's: kept apart from the direction of what stands beside it, and not longer than a line. */
export function foreign(text) {
  return el("bdi", {}, short(text));
}

export function short(text) {
  const letters = [...String(text ?? "").slice(0, 4 * mostLetters)];
  return letters.length > mostLetters ? letters.slice(0, mostLetters - 1).join("") + "…" : letters.join("");
}

/** Sets a text where it is another one: what stays costs no layout. */
export function setText(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Puts other rows into a table. A row that says the same stays, with its focus and with a click that is under way. */
export function replaceRows(body, rows) {
  rows.forEach((row, index) => {
    const old = body.children[index];
    if (!old) return body.append(row);
    if (old.isEqualNode(row) && checks(old) === checks(row)) return;
    const focused = controls(old).indexOf(document.activeElement);
    old.replaceWith(row);
    controls(row)[focused]?.focus();
  });
  while (body.children.length > rows.length) body.lastElementChild.remove();
}

const controls = row => [...row.querySelectorAll("a, button, input")];
const checks = row => controls(row).map(({ checked }) => Number(checked ?? 0)).join("");

/** A table with a caption for screen readers. */
export function table(caption, heads, body) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
    el("table", {},
      el("caption", { class: "unseen" }, caption),
      el("thead", {}, el("tr", {}, heads.map(head => el("th", { scope: "col" }, head)))),
      body));
}
