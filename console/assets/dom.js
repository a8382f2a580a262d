// Elements without a framework.

const SVG = "http://www.w3.org/2000/svg";

// h("a.link", { href: "#" }, "text", child): an element with a class, attributes, listeners (onclick) and children.
export function h(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElement(tag || "div");
  if (classes.length) element.className = classes.join(" ");
  return fill(element, attributes, children);
}

// The same for SVG.
export function s(kind, attributes, ...children) {
  const [tag, ...classes] = kind.split(".");
  const element = document.createElementNS(SVG, tag);
  if (classes.length) element.setAttribute("class", classes.join(" "));
  return fill(element, attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "style") Object.assign(element.style, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  append(element, children);
  return element;
}

export function append(element, children) {
  for (const child of [children].flat(Infinity)) {
    if (child === undefined || child === null || child === false) continue;
    element.append(child instanceof Node ? child : String(child));
  }
}

export function replace(element, ...children) {
  element.replaceChildren();
  append(element, children);
  return element;
}

// A box that asks, and resolves to whether the answer was yes.
export function ask(question, yes, detail) {
  return new Promise((resolve) => {
    const dialog = h("dialog.ask", { onclose: () => { resolve(dialog.returnValue === "yes"); dialog.remove(); } },
      h("form", { method: "dialog" },
        h("p", {}, question),
        detail ? h("pre.code", {}, detail) : null,
        h("div.row.end", {},
          h("button", { value: "no" }, "Cancel"),
          h("button.danger", { value: "yes" }, yes))));
    document.body.append(dialog);
    dialog.showModal();
  });
}
