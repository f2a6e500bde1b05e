import type { Price } from '../prices/price.js';

/** The behaviour of a sandbox model. Times are in milliseconds. */
export interface SandboxModel {
  readonly id: string;
  /** Description for display. */
  readonly behaviour: string;
  /** Wait before the first byte of the response. */
  readonly firstByteMs: number;
  /** Wait between the pieces of a stream. */
  readonly betweenPiecesMs: number;
  readonly error?: SandboxError;
}

export interface SandboxError {
  readonly status: number;
  readonly type: string;
  readonly code: string | null;
  readonly message: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

const atOnce = { firstByteMs: 0, betweenPiecesMs: 0 };

/** The models of the sandbox. To add one, add a row. */
export const sandboxModels: readonly SandboxModel[] = [
  {
    id: 'sandbox-1',
    behaviour: 'Repeats the last user message in a sentence; calls a tool and writes JSON when asked to.',
    ...atOnce,
  },
  {
    id: 'sandbox-slow',
    behaviour: 'The same, with two seconds before the first byte and 100 ms between the pieces of a stream.',
    firstByteMs: 2000,
    betweenPiecesMs: 100,
  },
  {
    id: 'sandbox-error-429',
    behaviour: 'Always refuses with status 429 and `retry-after: 1`.',
    ...atOnce,
    error: {
      status: 429,
      type: 'requests',
      code: 'rate_limit_exceeded',
      message: 'The model sandbox-error-429 always says that its rate limit is reached.',
      headers: [['retry-after', '1']],
    },
  },
  {
    id: 'sandbox-error-500',
    behaviour: 'Always fails with status 500.',
    ...atOnce,
    error: {
      status: 500,
      type: 'server_error',
      code: null,
      message: 'The model sandbox-error-500 always fails.',
      headers: [],
    },
  },
];

/** Play money for trying costs and budgets: $1 per million input tokens, $2 per million output tokens. */
const playMoney: Price = {
  input: 1_000_000_000,
  output: 2_000_000_000,
  cachedInput: null,
  cacheWrite: null,
  audioInput: null,
  audioOutput: null,
};

export const sandboxPrices: ReadonlyMap<string, Price> = new Map(
  sandboxModels.map(({ id }) => [id, playMoney]),
);
