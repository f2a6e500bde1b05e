import type { Usage, UsageSource } from '../common/contracts/request-log.js';
import { type Histogram, record, type StoredHistogram, toStored } from '../common/histogram/histogram.js';

/** What a rollup needs to know of one request. */
export interface UsedRequest {
  readonly created_at: Date;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  readonly api_key_id: string | null;
  readonly virtual_key_id: string | null;
  readonly provider: string | null;
  readonly model: string | null;
  readonly endpoint: string | null;
  readonly status: number;
  readonly usage: Usage;
  readonly usage_source: UsageSource;
  readonly cost_nano_usd: bigint | null;
  readonly duration_ms: number;
  readonly first_token_ms: number | null;
}

/** What a row of `usage_minute` is found by. Unknown is ''. */
export interface UsageKey {
  readonly minute: string;
  readonly organisation_id: string;
  readonly workspace_id: string;
  readonly api_key_id: string;
  readonly virtual_key_id: string;
  readonly provider: string;
  readonly model: string;
  readonly endpoint: string;
  readonly status: number;
}

/** What is added to that row. Money as text, because JSON numbers end at 2^53. */
export interface UsageSums {
  readonly requests: number;
  readonly counted_requests: number;
  readonly unpriced_requests: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cached_input_tokens: number;
  readonly reasoning_tokens: number;
  readonly cost_nano_usd: string;
  readonly duration_us: number;
  readonly first_token_us: number;
  readonly duration_histogram: StoredHistogram;
  readonly first_token_histogram: StoredHistogram;
}

export type UsageMinute = UsageKey & UsageSums;

const MINUTE_MS = 60_000;
/** Keys stand in an index, whose entries PostgreSQL limits to 2704 bytes. A model's name is the client's to choose. */
const LONGEST_MODEL = 128;
const LONGEST_NAME = 64;

/**
 * Sums requests up by minute and key, in the order of the keys.
 *
 * Every process that adds the result to the table in this order takes its row locks in the same order as
 * all others, so none waits for another in a circle.
 */
export function usageMinutes(requests: Iterable<UsedRequest>): UsageMinute[] {
  const sums = new Map<string, RunningSums>();
  for (const request of requests) {
    const key = keyOf(request);
    const name = JSON.stringify(Object.values(key));
    let running = sums.get(name);
    if (!running) sums.set(name, (running = new RunningSums(key)));
    running.add(request);
  }
  return [...sums].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, running]) => running.total());
}

function keyOf(request: UsedRequest): UsageKey {
  return {
    minute: new Date(Math.floor(request.created_at.getTime() / MINUTE_MS) * MINUTE_MS).toISOString(),
    organisation_id: cut(request.organisation_id, LONGEST_NAME),
    workspace_id: cut(request.workspace_id, LONGEST_NAME),
    api_key_id: cut(request.api_key_id, LONGEST_NAME),
    virtual_key_id: cut(request.virtual_key_id, LONGEST_NAME),
    provider: cut(request.provider, LONGEST_NAME),
    model: cut(request.model, LONGEST_MODEL),
    endpoint: cut(request.endpoint, LONGEST_NAME),
    status: request.status,
  };
}

/** By characters and not by UTF-16 units: half a character is not text, and PostgreSQL refuses it. */
function cut(text: string | null, longest: number): string {
  if (text === null) return '';
  return text.length <= longest ? text : Array.from(text).slice(0, longest).join('');
}

class RunningSums {
  readonly #key: UsageKey;
  readonly #durations: Histogram = new Map();
  readonly #firstTokens: Histogram = new Map();
  #requests = 0;
  #counted = 0;
  #unpriced = 0;
  #input = 0;
  #output = 0;
  #cached = 0;
  #reasoning = 0;
  #cost = 0n;
  #durationUs = 0;
  #firstTokenUs = 0;

  constructor(key: UsageKey) {
    this.#key = key;
  }

  add(request: UsedRequest): void {
    this.#requests += 1;
    if (request.usage_source === 'counted') this.#counted += 1;
    if (request.cost_nano_usd === null) this.#unpriced += 1;
    this.#cost += request.cost_nano_usd ?? 0n;
    this.#addUsage(request.usage);
    this.#durationUs += count(this.#durations, request.duration_ms);
    if (request.first_token_ms !== null)
      this.#firstTokenUs += count(this.#firstTokens, request.first_token_ms);
  }

  #addUsage(usage: Usage): void {
    this.#input += usage.input_tokens;
    this.#output += usage.output_tokens;
    this.#cached += usage.cached_input_tokens ?? 0;
    this.#reasoning += usage.reasoning_tokens ?? 0;
  }

  total(): UsageMinute {
    return {
      ...this.#key,
      requests: this.#requests,
      counted_requests: this.#counted,
      unpriced_requests: this.#unpriced,
      input_tokens: this.#input,
      output_tokens: this.#output,
      cached_input_tokens: this.#cached,
      reasoning_tokens: this.#reasoning,
      cost_nano_usd: this.#cost.toString(),
      duration_us: this.#durationUs,
      first_token_us: this.#firstTokenUs,
      duration_histogram: toStored(this.#durations),
      first_token_histogram: toStored(this.#firstTokens),
    };
  }
}

/** Counts a time and gives it back in whole microseconds. */
function count(histogram: Histogram, milliseconds: number): number {
  const microseconds = Math.max(0, Math.round(milliseconds * 1_000));
  record(histogram, microseconds);
  return microseconds;
}
