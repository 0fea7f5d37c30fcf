/** Lets calls take turns. */

/**
 * A function of `work` and `signal`: what the work returns, once fewer than `most` others have a turn, in the
 * order of the calls. The work is given a function that ends its turn early. When the signal aborts before
 * its turn, it rejects with its reason, and the work does not begin.
 */
export function turns(most) {
  const waiting = new Set();
  let running = 0;

  const turn = (signal) =>
    new Promise((resolve, reject) => {
      const begin = () => {
        waiting.delete(begin);
        signal?.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.delete(begin);
        reject(signal.reason);
      };
      waiting.add(begin);
      signal?.addEventListener("abort", leave, { once: true });
    });

  return async (work, signal) => {
    signal?.throwIfAborted();
    if (running < most) running += 1;
    else await turn(signal);
    let hasTurn = true;
    const end = () => {
      if (!hasTurn) return;
      hasTurn = false;
      const [next] = waiting;
      if (next) next();
      else running -= 1;
    };
    try {
      return await work(end);
    } finally {
      end();
    }
  };
}
