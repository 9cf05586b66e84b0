/* What is played: recorded runs. */

import { Player } from "./player.js";
import { Run, unpacked } from "./run.js";

/** Draw the player of what the model has packed; return it. */
export async function render({ model, el, keys, signal }) {
  const about = await unpacked(model.get("packed"));
  return new Player(el, about.runs.map((run) => new Run(run)), keys, signal);
}
