/** A task that waits until all sockets with news have been read. */
export interface AfterPoll {
  /** Must not throw. */
  afterPoll(): void;
}

let waiting: AfterPoll[] = [];
let running: AfterPoll[] = [];

/**
 * Calls back once this turn of the event loop has delivered the data of its sockets. One immediate serves all waiting callers.
 * https://nodejs.org/en/learn/asynchronous-work/event-loop-timers-and-nexttick#check
 */
export function whenPolled(waiter: AfterPoll): void {
  if (waiting.push(waiter) === 1) setImmediate(callBack);
}

function callBack(): void {
  [waiting, running] = [running, waiting];
  let next = 0;
  try {
    while (next < running.length) running[next++]?.afterPoll();
  } finally {
    // If one throws nevertheless, those after it are not lost.
    for (const waiter of running.slice(next)) whenPolled(waiter);
    running.length = 0;
  }
}
