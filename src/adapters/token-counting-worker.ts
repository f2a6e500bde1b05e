import { parentPort } from 'node:worker_threads';
import { countTokens } from '../common/tokens/count-tokens.js';

/** A thread that counts tokens. Its tables stay out of the main thread's heap, which is collected while requests run. */
parentPort?.on('message', ({ id, text }: { readonly id: number; readonly text: string }) => {
  parentPort?.postMessage({ id, tokens: countTokens(text) });
});
