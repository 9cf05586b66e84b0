/* The script of all widgets: anywidget loads it in a notebook, and a page of `linklab.show.widgets.page` holds it. */

import * as player from "./player/replay.js";
import * as prediction from "./prediction.js";
import * as theory from "./theory.js";
import "./widgets.css";
import "./player/player.css";

const WIDGETS = { player, prediction, theory };

/** Draw the widget that the model names; return what it draws with. `keys` is where its keys are pressed. */
async function draw({ model, el, keys, signal }) {
  const name = model.get("widget"), begun = performance.now();
  el.classList.add("linklab-widget", `linklab-${name}`);
  try {
    const drawn = await WIDGETS[name].render({ model, el, keys, signal });
    el.dataset.ready = `${Math.round(performance.now() - begun)}`;
    return drawn;
  } catch (wrong) {
    el.textContent = `This cannot be shown: ${wrong.message}. It needs a browser of 2023 or later.`;
    throw wrong;
  }
}

/** anywidget calls this for each view, and what it returns when the view goes. */
async function render({ model, el }) {
  const view = new AbortController();
  await draw({ model, el, keys: el, signal: view.signal });
  return () => view.abort();
}

const page = document.querySelector("body > main[data-widget]");
if (page) window.linklabWidget = draw({ model: { get: (name) => page.dataset[name] }, el: page, keys: document });

export default { render };
