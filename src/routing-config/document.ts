import type { ClientDisconnectRule } from '../common/contracts/client-disconnect.js';
import type { UnsupportedParameterRule } from '../common/contracts/unsupported-parameters.js';
import type { AccountFields } from './account-fields.js';

/**
 * The routing document that users save as a config or send in `x-gateway-config`, after parsing: names in
 * snake_case, every value within its bounds. Root and targets have the same shape.
 */
export interface RoutingConfig extends AccountFields {
  readonly strategy?: Strategy;
  readonly targets?: readonly RoutingConfig[];
  /** What conditions call a target. */
  readonly name?: string;
  /** Share of a load balance, 1 where nothing is said. */
  readonly weight?: number;

  /** A provider's id, or `@slug` of a virtual key. */
  readonly provider?: string;
  readonly api_key?: string;
  readonly virtual_key?: string;
  readonly custom_host?: string;

  /** Parameters that replace those of the request; merged with the parents', the child's win. */
  readonly override_params?: JsonObject;
  /** Parameters of requests that lack them. */
  readonly default_params?: JsonObject;
  /** Paths of parameters that are taken out: `tools[*].strict`. */
  readonly drop_params?: readonly string[];
  readonly forward_headers?: readonly string[];
  /** Milliseconds to the first byte of each attempt. */
  readonly request_timeout?: number;
  readonly on_client_disconnect?: ClientDisconnectRule;
  readonly unsupported_parameters?: UnsupportedParameterRule;
  readonly strict_open_ai_compliance?: boolean;
  /** The request goes to the provider as it is, untranslated. */
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
  /** Statuses that make a fallback move on. */
  readonly on_status_codes?: readonly number[];
  readonly conditions?: readonly ConditionRules[];
  /** Name of the target for requests that meet no condition. */
  readonly default?: string;
  readonly sticky?: StickyRules;
  /** How a load balance chooses; by weight where nothing is said. */
  readonly balance_by?: BalanceRule;
  /** Milliseconds that a fallback holds a stream back for its first useful token; 0 passes it on at once. */
  readonly hold_stream_ms?: number;
  /** A fallback also calls its second target when the first one takes unusually long; the faster response is used. */
  readonly hedge?: HedgeRules;
  /** For every target below that has none of its own. */
  readonly cb_config?: BreakerRules;
}

export interface HedgeRules {
  /** How long the first target may take to its first byte, milliseconds, as long as too little was measured of it. */
  readonly after_ms?: number;
  /** Share of the requests that may be sent twice, percent. */
  readonly max_share?: number;
  /** What the second questions may cost, percent of what all first ones are estimated at. */
  readonly max_spend?: number;
}

export interface ConditionRules {
  readonly query: JsonObject;
  readonly then: string;
}

/** Requests that agree in these fields go to the same target: `metadata.user`, `params.model`, `headers.x-session`. */
export interface StickyRules {
  readonly enabled?: boolean;
  readonly hash_fields?: readonly string[];
  /** Seconds. */
  readonly ttl?: number;
}

export interface RetryRules {
  /** Further tries. */
  readonly attempts: number;
  readonly on_status_codes?: readonly number[];
  readonly use_retry_after_header?: boolean;
}

/** What is not said, the workspace's default says. */
export interface CacheRules {
  /** The very same request, also one that means the same, or none: also where the workspace's default is another. */
  readonly mode: 'simple' | 'semantic' | 'off';
  /** Seconds; a week where nothing is said. */
  readonly max_age?: number;
  /** Cosine likeness from which a semantic hit counts, 0 to 1; 0.95 where nothing is said. */
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

/** The id of a stored guardrail, or one written out: checks by name, and `deny`, `async` and the like beside them. */
export type GuardrailReference = string | JsonObject;
