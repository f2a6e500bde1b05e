/**
 * The load generator, a separate process. Accepts jobs over IPC, one at a time, and returns each one's figures. Started by run.mjs; ends
 * with it.
 */
import { closedLoop } from './closed-loop.mjs';
import { openLoop } from './open-loop.mjs';
import { streamLoad } from './stream-load.mjs';

const KINDS = { closed: closedLoop, open: openLoop, streams: streamLoad };

process.on('message', async (job) => {
  try {
    process.send({ result: await KINDS[job.kind](job) });
  } catch (error) {
    process.send({ failure: error.message });
  }
});
process.on('disconnect', () => process.exit(0));
