import type { AppliedPrice } from '../common/contracts/price.js';
import type { Usage } from '../common/contracts/usage.js';

/**
 * The record of one request, as the data plane writes it and the control plane stores it.
 *
 * There are two frames: `OpenedExchange`, on disk before the first byte goes upstream, and `RequestLogRecord`, on disk before the last byte
 * goes to the client. An exchange without a second frame was killed; the shipper closes it as `gateway_crashed`. Names are those of the
 * database columns, so nothing is renamed on the way.
 */
export interface OpenedExchange {
  /** UUIDv7 assigned on arrival; also `x-gateway-request-id`. */
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
   * The attempts so far, to be recorded if the process dies now. Attempts under way count with what they reserved of budgets, because their
   * provider bills for them. Present when one of them holds part of a budget, and for sessions; the last frame of an exchange counts.
   */
  readonly attempts_so_far?: readonly AttemptRecord[];
}

/** How an exchange ended. `refused`: by the gateway, before or instead of a response of the provider. */
export type Ending =
  'completed' | 'refused' | 'client_aborted' | 'upstream_failed' | 'upstream_truncated' | 'gateway_crashed';

/** The origin of a log of a request made elsewhere: `POST /v1/logs`, or a span. */
export type LogSource = 'api' | 'otlp';

/**
 * Where the numbers come from: the provider reported them; the gateway counted the text of a complete response; they are an estimate
 * because the response was cut off (by its client, or by the end of the gateway process); or they are unknown.
 */
export const USAGE_SOURCES = ['provider', 'counted', 'estimated', 'none'] as const;

export type UsageSource = (typeof USAGE_SOURCES)[number];

/** The outcome of the response cache, in the values of the header `x-gateway-cache-status`. */
export type CacheStatus = 'HIT' | 'SEMANTIC HIT' | 'MISS' | 'SEMANTIC MISS' | 'REFRESH' | 'DISABLED';

/** Header names and values in turn, as sent, with secrets masked. A flat list, because an object per request costs more. */
export type HeaderPairs = readonly string[];

/** A charge of an attempt to a budget. The amount is the attempt's own cost or tokens, so it is not repeated here. */
export interface Charge {
  /** Name of the counter. */
  readonly counter: string;
  readonly measure: 'cost' | 'tokens';
  /** The process that leased it, and how much of its lease is used up: nano-dollars or tokens. */
  readonly holder: string;
  readonly leased: number;
}

/** One try at one target. */
export interface AttemptRecord {
  /** Position within the request, from 0. */
  readonly attempt: number;
  /** Path of the target in the config: `config.targets[1]`; `config` when there was no list. */
  readonly option_path: string;
  readonly provider: string;
  readonly virtual_key_id: string | null;
  /** Scheme, host and port that were called; never a path or a credential. */
  readonly origin: string;
  readonly started_at: number;
  /** Milliseconds to the first byte of the response; null when none arrived. */
  readonly first_byte_ms: number | null;
  readonly duration_ms: number;
  readonly status: number | null;
  readonly error_code: string | null;
  readonly usage: Usage | null;
  readonly cost_nano_usd: number | null;
  /** The price it was, or will be, charged at. Absent when nothing was used, no price is known, or several prices were added up. */
  readonly price?: AppliedPrice;
  /** Absent where no budget applies. */
  readonly charges?: readonly Charge[];
  /**
   * A side request that the gateway made for this request: it costs, but was not an attempt at the request itself. Not stored:
   * `option_path` shows it.
   */
  readonly isAside?: true;
  /** Text to count of a response that was discarded without usage. Not stored. */
  readonly countable?: CountableText & { readonly model: string | null };
  /**
   * Usage and cost are an estimate: the attempt was sent and has no recorded end (they are its reservation), or its response was cut off
   * (they cover what had arrived).
   */
  readonly isEstimated?: true;
}

/** Text whose tokens are counted outside the request loop. */
export interface CountableText {
  readonly input: string;
  readonly output: string;
  /** The provider reported the input but not the output that followed. */
  readonly isOutputOnly?: true;
}

export interface RequestLogRecord extends Omit<OpenedExchange, 'attempts_so_far'> {
  /** The saved config of the request; null when it used its headers or an inline config. */
  readonly config_id: string | null;
  readonly config_version_id: string | null;
  /** Of the last attempt. */
  readonly option_path: string;
  /** What the config chose and why, in order; null when there was no choice. */
  readonly decisions: readonly string[] | null;
  readonly ending: Ending;
  /** Status sent to the client; 499 when it disconnected before one was sent. */
  readonly status: number;
  readonly error_code: string | null;
  readonly error_source: 'gateway' | 'provider' | null;
  readonly duration_ms: number;
  readonly first_token_ms: number | null;
  /** Time spent in the gateway itself, before the first byte went upstream and after the last one arrived, microseconds. */
  readonly overhead_us: number;
  readonly request_bytes: number;
  readonly response_bytes: number;
  readonly response_model: string | null;
  readonly usage: Usage | null;
  readonly usage_source: UsageSource;
  /** Integer nano-dollars; null when the price or the usage is unknown, never a silent 0. */
  readonly cost_nano_usd: number | null;
  /** Absent when no cache was used. */
  readonly cache_status?: CacheStatus | null;
  /** Similarity of the semantic cache match, 0 to 1; null without a comparison. */
  readonly cache_score?: number | null;
  /** Parameters that the last target does not support and was not sent; absent or null for none. */
  readonly dropped_parameters?: readonly string[] | null;
  /** The service tier that the response names, or else the request; absent or null for none. */
  readonly service_tier?: string | null;
  /** What a cached response would have cost, integer nano-dollars. */
  readonly saved_nano_usd?: number | null;
  readonly attempts: readonly AttemptRecord[];
  /** Text to count outside the request loop when the provider reported no usage. Not stored. */
  readonly countable: CountableText | null;
  /** The guardrails' verdicts on request and response; null without guardrails. */
  readonly hook_results: Readonly<Record<string, unknown>> | null;
  /** Absent for the gateway's own requests. */
  readonly source?: LogSource;
  readonly request_headers: HeaderPairs;
  readonly response_headers: HeaderPairs;
}

/** The captured part of a body: the first 256 KiB and the last 64 KiB at most. */
export interface CapturedBody {
  readonly chunks: readonly Buffer[];
  /** Size of the whole body, which may exceed the captured part. */
  readonly bytes: number;
  readonly truncated: boolean;
  readonly content_type: string | null;
  readonly content_encoding: string | null;
}

export interface CapturedBodies {
  readonly request: CapturedBody | null;
  readonly response: CapturedBody | null;
}
