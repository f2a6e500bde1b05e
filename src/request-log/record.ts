import type { AppliedPrice } from '../common/contracts/price.js';
import type { Usage } from '../common/contracts/usage.js';

/**
 * The record of one request, as the data plane writes it and the control plane stores it.
 *
 * Two frames travel: `OpenedExchange`, on disk before the first byte goes upstream, and
 * `RequestLogRecord`, on disk before the last byte goes to the client. An exchange whose
 * second frame never came was killed; the shipper closes it as `gateway_crashed`.
 * Names are those of the database columns, so nothing is renamed on the way.
 */
export interface OpenedExchange {
  /** UUIDv7 made on arrival; also `x-gateway-request-id`. */
  readonly id: string;
  /** Arrival, milliseconds since the epoch. */
  readonly created_at: number;
  readonly organisation_id: string;
  readonly workspace_id: string | null;
  /** Null for a caller with a signed token. */
  readonly api_key_id: string | null;
  readonly user_id: string | null;
  readonly trace_id: string;
  readonly span_id: string | null;
  readonly parent_span_id: string | null;
  readonly span_name: string | null;
  readonly method: string;
  /** Path and query as received, secrets in the query masked; at most 2 KiB. */
  readonly path: string;
  /** Endpoint family, or null for a pass-through. */
  readonly endpoint: string | null;
  readonly provider: string | null;
  readonly virtual_key: string | null;
  readonly virtual_key_id: string | null;
  readonly prompt_slug?: string | null;
  readonly model: string | null;
  readonly streamed: boolean;
  readonly metadata: Readonly<Record<string, string>> | null;
  /**
   * The attempts so far, as they are recorded if the process dies now: those under way at what they reserved of budgets, because
   * their provider bills for them. Present where one of them holds part of a budget; the last frame of an exchange counts.
   */
  readonly attempts_so_far?: readonly AttemptRecord[];
}

/** How an exchange ended. `refused` is ours, before or instead of an answer of the provider. */
export type Ending =
  'completed' | 'refused' | 'client_aborted' | 'upstream_failed' | 'upstream_truncated' | 'gateway_crashed';

/** Where a log of a call that was made elsewhere came in: by `POST /v1/logs`, or as a span. */
export type LogSource = 'api' | 'otlp';

/**
 * Where the numbers come from: the provider reported them, the gateway counted the text of a whole answer, they are an
 * estimate because the answer was cut (by its client, or by the end of the gateway process), or nothing is known.
 */
export const USAGE_SOURCES = ['provider', 'counted', 'estimated', 'none'] as const;

export type UsageSource = (typeof USAGE_SOURCES)[number];

/** What the response cache did, in the words of the header `x-gateway-cache-status`. */
export type CacheStatus = 'HIT' | 'SEMANTIC HIT' | 'MISS' | 'SEMANTIC MISS' | 'REFRESH' | 'DISABLED';

/** Header names and values in turn, as they were sent, secrets masked. A flat list, because making an object per request costs more. */
export type HeaderPairs = readonly string[];

/** What an attempt is charged to a budget with. The amount is the attempt's own cost or tokens, so it is not said again. */
export interface Charge {
  /** Name of the counter. */
  readonly counter: string;
  readonly measure: 'cost' | 'tokens';
  /** Which process had leased it, and how much of its lease is used up: nano-dollars or tokens. */
  readonly holder: string;
  readonly leased: number;
}

/** One try at one target. */
export interface AttemptRecord {
  /** Position within the request, from 0. */
  readonly attempt: number;
  /** Where the target stands in the config: `config.targets[1]`; `config` where there was none. */
  readonly option_path: string;
  readonly provider: string;
  readonly virtual_key_id: string | null;
  /** Scheme, host and port that were called; never a path, never a credential. */
  readonly origin: string;
  readonly started_at: number;
  /** Milliseconds to the first byte of the answer; null when none came. */
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly usage: Usage | null;
  readonly cost_nano_usd: number | null;
  /** By which it was, or will be, charged. Absent where nothing was used, there is no known price, or several were added up. */
  readonly price?: AppliedPrice;
  /** Absent where no budget applies. */
  readonly charges?: readonly Charge[];
  /** The gateway asked this for the request's sake: it costs, and was no try of the request itself. Not stored: `option_path` tells. */
  readonly isAside?: true;
  /** Text to count of an answer that was put away without usage. Not stored. */
  readonly countable?: CountableText & { readonly model: string | null };
  /**
   * Usage and cost are an estimate: the attempt was sent and has no end on record (then they are its reservation), or its answer
   * was cut off (then they are what had arrived).
   */
  readonly isEstimated?: true;
}

/** Text whose tokens are counted outside the request loop. */
export interface CountableText {
  readonly input: string;
  readonly output: string;
  /** The provider reported the input, and nothing of the output that came after. */
  readonly isOutputOnly?: true;
}

export interface RequestLogRecord extends Omit<OpenedExchange, 'attempts_so_far'> {
  /** The saved config that the request went by; null where it went by its headers, or brought the config. */
  readonly config_id: string | null;
  readonly config_version_id: string | null;
  /** Of the last attempt. */
  readonly option_path: string;
  /** What the config chose and why, in order; null where there was nothing to choose. */
  readonly decisions: readonly string[] | null;
  readonly ending: Ending;
  /** Status that the client got; 499 when it left before one was sent. */
  readonly status: number;
  readonly error_code: string | null;
  readonly error_source: 'gateway' | 'provider' | null;
  readonly duration_ms: number;
  readonly first_token_ms: number | null;
  /** Time spent in the gateway itself before the first byte went upstream and after the last came, microseconds. */
  readonly overhead_us: number;
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly response_model: string | null;
  readonly usage: Usage | null;
  readonly usage_source: UsageSource;
  /** Integer nano-dollars; null when the price or the usage is unknown, never a silent 0. */
  readonly cost_nano_usd: number | null;
  /** Absent when no cache was asked. */
  readonly cache_status?: CacheStatus | null;
  /** How like the nearest question was that the cache knew, 0 to 1; null where it compared no meanings. */
  readonly cache_score?: number | null;
  /** Parameters that the last target does not have and was not sent; absent or null for none. */
  readonly dropped_parameters?: readonly string[] | null;
  /** The tier of service that the answer names, or else the request; absent or null for none. */
  readonly service_tier?: string | null;
  /** What an answer from the cache would have cost, integer nano-dollars. */
  readonly saved_nano_usd?: number | null;
  readonly attempts: readonly AttemptRecord[];
  /** Text to count outside the request loop when the provider gave no usage. Not stored. */
  readonly countable: CountableText | null;
  /** What guardrails said of the request and its answer; null where there are none. */
  readonly hook_results: Readonly<Record<string, unknown>> | null;
  /** Absent for what the gateway itself did. */
  readonly source?: LogSource;
  readonly request_headers: HeaderPairs;
  readonly response_headers: HeaderPairs;
}

/** A body as far as it was kept: the first 256 KiB and the last 64 KiB at most. */
export interface CapturedBody {
  readonly chunks: readonly Buffer[];
  /** Size of the whole body, which may be more than was kept. */
  readonly bytes: number;
  readonly truncated: boolean;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
}

export interface CapturedBodies {
  readonly request: CapturedBody | null;
  readonly response: CapturedBody | null;
}
