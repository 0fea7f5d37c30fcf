/** Loaded by Node at its start, see `World.hurried`: pauses take a sixteenth of their time. */

import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers/promises";

const { setTimeout: sleep } = timers;
timers.setTimeout = (milliseconds, ...more) => sleep(milliseconds / 16, ...more);
syncBuiltinESMExports();
