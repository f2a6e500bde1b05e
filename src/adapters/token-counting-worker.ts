import { parentPort } from 'node:worker_threads';
import { countTokens } from '../common/tokens/count-tokens.js';

/** A thread that counts tokens: its tables stay out of the memory that every request is collected over. */
parentPort?.on('message', ({ id, text }: { readonly id: number; readonly text: string }) => {
  parentPort?.postMessage({ id, tokens: countTokens(text) });
});
