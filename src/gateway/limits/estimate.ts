import type { Usage } from '../../common/contracts/request-log.js';
import { mostPages } from '../../providers/endpoints/ocr.js';
import { highestCostOf } from '../../providers/prices/cost.js';
import type { Price } from '../../providers/prices/price.js';
import type { Endpoint, EndpointId, Json } from '../../providers/endpoint.js';

/** The most that a request may use. */
export interface Estimate {
  readonly tokens: number;
  /** Nano-dollars; null when nobody knows the price of the model. */
  readonly costNanoUsd: number | null;
}

export interface Estimated {
  readonly endpoint: Endpoint | null;
  readonly body: Json | null;
  readonly bodyBytes: number;
  readonly price: Price | null;
  /** Output of a request that does not bound it itself, tokens. */
  readonly outputCeiling: number;
}

/** Where a request bounds its output, and how many answers it asks for. Endpoints that are not listed put out no tokens. */
const BOUNDS: Partial<Record<EndpointId, { readonly most: readonly string[]; readonly times?: string }>> = {
  'chat-completions': { most: ['max_completion_tokens', 'max_tokens'], times: 'n' },
  completions: { most: ['max_tokens'], times: 'n' },
  'fim-completions': { most: ['max_tokens'] },
  'agent-completions': { most: ['max_tokens'], times: 'n' },
  'chat-v2': { most: ['max_tokens'] },
  responses: { most: ['max_output_tokens'] },
  messages: { most: ['max_tokens'] },
  'generate-content': { most: ['maxOutputTokens', 'max_output_tokens'], times: 'candidateCount' },
};

/** Endpoints that are charged by something else than tokens, and the most that a request may use of it. */
const MOST: Partial<Record<EndpointId, (request: Json) => Usage>> = { ocr: mostPages };

/** What costs nobody anything. */
export const FREE: Estimate = { tokens: 0, costNanoUsd: 0 };

/**
 * Bounds a request from above. No tokenizer makes more tokens than the text has bytes, so the size of the body bounds
 * the input, short of what it refers to elsewhere (images by address, stored files); output is what the request
 * allows, or the ceiling. What a request is not metered for cannot be estimated and reserves nothing.
 */
export function estimateOf({ endpoint, body, bodyBytes, price, outputCeiling }: Estimated): Estimate {
  if (!endpoint?.usage || !body) return FREE;
  const usage = MOST[endpoint.id]?.(body) ?? {
    input_tokens: bodyBytes,
    output_tokens: outputOf(endpoint.id, body, outputCeiling),
  };
  return {
    tokens: usage.input_tokens + usage.output_tokens,
    costNanoUsd: price && highestCostOf(usage, price),
  };
}

function outputOf(id: EndpointId, body: Json, ceiling: number): number {
  const bounds = BOUNDS[id];
  if (!bounds) return 0;
  const fields = optionsOf(body);
  const stated = firstStated(fields, bounds.most);
  const times = bounds.times === undefined ? null : wholeOf(fields[bounds.times]);
  return Math.min((stated ?? ceiling) * (times ?? 1), Number.MAX_SAFE_INTEGER / 2);
}

function firstStated(fields: Json, names: readonly string[]): number | null {
  for (const name of names) {
    const value = wholeOf(fields[name]);
    if (value !== null) return value;
  }
  return null;
}

/** Google's calls keep these in `generationConfig`. https://ai.google.dev/api/generate-content#generationconfig */
function optionsOf(body: Json): Json {
  const config = body.generationConfig ?? body.generation_config;
  return typeof config === 'object' && config !== null ? (config as Json) : body;
}

const wholeOf = (value: unknown): number | null =>
  Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null;
