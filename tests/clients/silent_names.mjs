// Loaded by Node at its start: a look-up takes a thread until somebody opens the FIFO $SILENT, and says
// so once by the FIFO $STARTED, if there is one.

import childProcess from "node:child_process";
import dns from "node:dns";
import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

const { execFile } = childProcess;
dns.lookup = (host, options, callback) => {
  fs.readFile(process.env.SILENT, () => callback(null, []));
  if (process.env.STARTED) fs.writeFileSync(process.env.STARTED, "");
};
childProcess.execFile = (program, words, ...more) =>
  execFile(program, [`--import=${import.meta.url}`, ...words], ...more);
syncBuiltinESMExports();
