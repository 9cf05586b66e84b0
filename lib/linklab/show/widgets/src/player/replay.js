/* What is played: recorded runs, or captures. */

import { CapturePlayer } from "./captures.js";
import { Player } from "./player.js";
import { Run, unpacked } from "./run.js";

/** Draw the player of what the model has packed; return it. */
export async function render({ model, el, keys, signal }) {
  const about = await unpacked(model.get("packed"));
  if (about.captures) return new CapturePlayer(el, about.captures, keys, signal);
  return new Player(el, about, about.runs.map((run) => new Run(run)), keys, signal);
}
