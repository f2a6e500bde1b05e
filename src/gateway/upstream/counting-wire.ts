import type { TokenCounter } from '../ports.js';
import type { Wire } from './wire.js';

/** Marks a response that no provider counted. */
const ESTIMATED = ['x-gateway-token-count', 'estimated'] as const;

/** A wire that counts a text's tokens in the gateway: apart from the socket, its response is handled like any other. */
export function countingWire(counter: TokenCounter, text: string): Wire {
  return {
    dispatch: (_, handler) => {
      let isAborted = false;
      handler.onConnect((reason) => {
        isAborted = true;
        handler.onError(reason ?? new Error('the request was cancelled'));
      });
      counter.count(text).then(
        (tokens) => {
          if (isAborted) return;
          const body = Buffer.from(JSON.stringify({ input_tokens: tokens }));
          const headers = [
            'content-type',
            'application/json',
            'content-length',
            String(body.length),
            ...ESTIMATED,
          ];
          handler.onHeaders(200, headers, () => undefined, '');
          handler.onData(body);
          handler.onComplete();
        },
        (error: unknown) => {
          if (!isAborted) handler.onError(error as Error);
        },
      );
    },
  };
}
