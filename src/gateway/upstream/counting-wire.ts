import type { TokenCounter } from '../ports.js';
import type { Wire } from './wire.js';

/** Says of an answer that no provider counted. */
const ESTIMATED = ['x-gateway-token-count', 'estimated'] as const;

/** The gateway's own counting of a text as a wire: its answer takes the way of any other, but for the socket. */
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
