/* The script of all widgets: anywidget loads it in a notebook, and pages hold it (`linklab.show.widgets.page`). */

import * as network from "./network/network.js";
import * as prediction from "./prediction.js";
import * as theory from "./theory.js";
import "../../tokens.css";
import "./widgets.css";
import "./network/network.css";

const WIDGETS = { network, prediction, theory };

/** Draw the widget that the model names; return what it draws with. `keys` is where its keys are pressed. */
async function draw({ model, el, keys, signal }) {
  const name = model.get("widget");
  const begun = performance.now();
  el.classList.add("linklab-widget", `linklab-${name}`);
  try {
    const drawn = await WIDGETS[name].render({ model, el, keys, signal });
    el.dataset.ready = `${Math.round(performance.now() - begun)}`;
    return drawn;
  } catch (wrong) {
    el.textContent = `This cannot be shown: ${wrong.message}. It needs a browser of 2024 or later.`;
    throw wrong;
  }
}

/** anywidget calls this for each view, and what it returns when the view goes. */
async function render({ model, el }) {
  const view = new AbortController();
  // JupyterLab has keys of its own for whatever lies in a notebook: a widget keeps those that are pressed in it.
  // Escape leaves it for its cell, whose keys are JupyterLab's again.
  el.classList.add("lm-suppress-shortcuts");
  el.dataset.lmSuppressShortcuts = "true";
  await draw({ model, el, keys: el, signal: view.signal });
  el.addEventListener(
    "keydown",
    (event) => {
      event.stopPropagation();
      if (event.key === "Escape") el.closest(".jp-Cell")?.focus();
    },
    { signal: view.signal },
  );
  return () => view.abort();
}

for (const place of document.querySelectorAll("[data-widget][data-packed]:not(.linklab-widget)")) {
  const keys = place.matches("body > main") ? document : place; // a page of its own has all keys
  window.linklabWidget = draw({ model: { get: (name) => place.dataset[name] }, el: place, keys });
}

export default { render };
