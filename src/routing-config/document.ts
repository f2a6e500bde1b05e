import type { ClientDisconnectRule, UnsupportedParameterRule } from '../common/contracts/upstream-rules.js';
import type { AccountFields } from './account-fields.js';

/**
 * The routing document that users save as a config or send in `x-gateway-config`, after parsing: names in snake_case, every value within
 * its limits. Root and targets have the same format.
 */
export interface RoutingConfig extends AccountFields {
  readonly strategy?: Strategy;
  readonly targets?: readonly RoutingConfig[];
  /** The target's name in conditions. */
  readonly name?: string;
  /** Share of a load balance; default: 1. */
  readonly weight?: number;

  /** A provider's id, or `@slug` of a virtual key. */
  readonly provider?: string;
  readonly api_key?: string;
  readonly virtual_key?: string;
  readonly custom_host?: string;

  /** Parameters that replace those of the request; merged with the parents', with the child's taking precedence. */
  readonly override_params?: JsonObject;
  /** Parameters for requests without them. */
  readonly default_params?: JsonObject;
  /** Paths of parameters to remove: `tools[*].strict`. */
  readonly drop_params?: readonly string[];
  readonly forward_headers?: readonly string[];
  /** Milliseconds to the first byte of each attempt. */
  readonly request_timeout?: number;
  readonly on_client_disconnect?: ClientDisconnectRule;
  readonly unsupported_parameters?: UnsupportedParameterRule;
  /** False: a stream's usage is not requested where the client does not request it. */
  readonly stream_usage?: boolean;
  readonly strict_open_ai_compliance?: boolean;
  /** The request goes to the provider unchanged, untranslated. */
  readonly passthrough?: boolean;
  readonly fetch_integrated_models?: boolean;

  readonly retry?: RetryRules;
  readonly cache?: CacheRules;
  readonly cb_config?: BreakerRules;

  readonly before_request_hooks?: readonly GuardrailReference[];
  readonly after_request_hooks?: readonly GuardrailReference[];
  readonly input_guardrails?: readonly GuardrailReference[];
  readonly output_guardrails?: readonly GuardrailReference[];
  readonly input_mutators?: readonly GuardrailReference[];
  readonly output_mutators?: readonly GuardrailReference[];
}

export type JsonObject = Readonly<Record<string, unknown>>;

export type StrategyMode = 'single' | 'loadbalance' | 'fallback' | 'conditional';

export type BalanceRule = 'weight' | 'latency' | 'least_busy' | 'cost';

export interface Strategy {
  readonly mode: StrategyMode;
  /** Statuses on which a fallback moves on. */
  readonly on_status_codes?: readonly number[];
  readonly conditions?: readonly ConditionRules[];
  /** Name of the target for requests that match no condition. */
  readonly default?: string;
  readonly sticky?: StickyRules;
  /** How a load balance chooses; default: by weight. */
  readonly balance_by?: BalanceRule;
  /** Milliseconds that a fallback holds back a stream for its first useful token; 0 passes it on at once. */
  readonly hold_stream_ms?: number;
  /** A fallback also calls its second target when the first one takes unusually long; the faster response is used. */
  readonly hedge?: HedgeRules;
  /** For every target below without its own. */
  readonly cb_config?: BreakerRules;
}

export interface HedgeRules {
  /** Time limit for the first target's first byte, milliseconds, until enough was measured. */
  readonly after_ms?: number;
  /** Maximum share of requests that may be sent twice, percent. */
  readonly max_share?: number;
  /** Maximum cost of second attempts, percent of the estimated cost of all first ones. */
  readonly max_spend?: number;
}

export interface ConditionRules {
  readonly query: JsonObject;
  readonly then: string;
}

/** Requests with equal values in these fields go to the same target: `metadata.user`, `params.model`, `headers.x-session`. */
export interface StickyRules {
  readonly enabled?: boolean;
  readonly hash_fields?: readonly string[];
  /** Seconds. */
  readonly ttl?: number;
}

export interface RetryRules {
  /** Number of retries. */
  readonly attempts: number;
  readonly on_status_codes?: readonly number[];
  readonly use_retry_after_header?: boolean;
}

/** Omitted fields default to the workspace's. */
export interface CacheRules {
  /** Exact matches only, also semantic matches, or none, whatever the workspace's default. */
  readonly mode: 'simple' | 'semantic' | 'off';
  /** Seconds; default: a week. */
  readonly max_age?: number;
  /** Minimum cosine similarity of a semantic hit, 0 to 1; default: 0.95. */
  readonly threshold?: number;
  /** The model that computes embeddings for comparison. */
  readonly embedding?: EmbeddingRules;
}

export interface EmbeddingRules {
  /** Slug of a virtual key of the workspace. */
  readonly virtual_key: string;
  readonly model: string;
}

export interface BreakerRules {
  readonly failure_threshold?: number;
  readonly failure_threshold_percentage?: number;
  /** Milliseconds. */
  readonly cooldown_interval?: number;
  readonly failure_status_codes?: readonly number[];
  readonly minimum_requests?: number;
}

/** The id of a stored guardrail, or an inline one: checks by name, with `deny`, `async` and similar fields beside them. */
export type GuardrailReference = string | JsonObject;
