import type {
  ClientDisconnectRule,
  UnsupportedParameterRule,
} from '../../common/contracts/upstream-rules.js';
import type { HookLists } from '../../routing-config/guardrails/read-hooks.js';
import type { Condition } from '../../routing-config/conditions.js';
import type { BalanceRule, CacheRules, JsonObject } from '../../routing-config/document.js';
import type { StickyField } from '../../routing-config/sessions.js';
import type { Secret } from '../../common/settings/secret.js';

/**
 * The possible targets of a request, computed once per config: everything that targets inherit is filled in, so that a request only walks
 * it. Shared by requests and never changed.
 */
export type Plan = PlannedTarget | Fallback | LoadBalance | Conditional;

/** The option in the response's header if there is nothing to choose. */
export const ROOT_OPTION = 'config';

/** Tries its targets in order. */
export interface Fallback {
  readonly kind: 'fallback';
  readonly path: string;
  readonly targets: readonly Plan[];
  /** Statuses that move on; null for the default. */
  readonly onStatuses: ReadonlySet<number> | null;
  /** How long a stream is held for its first useful token, so that a target that breaks before it can be replaced. */
  readonly holdMs: number;
  /** Null: a target is tried only after the previous one has failed. */
  readonly hedge: HedgePlan | null;
}

/** How long a response is held for its first useful token, and the failure statuses that replace it until then. */
export type HoldRule = Pick<Fallback, 'holdMs' | 'onStatuses'>;

/** When a fallback tries its second target beside the first one. */
export interface HedgePlan {
  /** Milliseconds, until enough is measured of the first target; null for no hedging until then. */
  readonly afterMs: number | null;
  /** Share of the requests, 0 to 1. */
  readonly share: number;
  /** Share of the requests' estimated cost, 0 to 1. */
  readonly spend: number;
}

/** Chooses one target per request. */
export interface LoadBalance {
  readonly kind: 'loadbalance';
  readonly path: string;
  readonly targets: readonly WeightedPlan[];
  readonly by: BalanceRule;
  /** Fields that identify a session; null if each request is independent. */
  readonly stickyBy: readonly StickyField[] | null;
}

export interface WeightedPlan {
  readonly plan: Plan;
  /** Its path in the config. */
  readonly path: string;
  /** Above 0. */
  readonly weight: number;
}

/** The first condition that matches a request selects its target. */
export interface Conditional {
  readonly kind: 'conditional';
  readonly path: string;
  readonly branches: readonly Branch[];
  /** For requests that match none; null refuses them. */
  readonly otherwise: Plan | null;
}

export interface Branch {
  readonly condition: Condition;
  readonly plan: Plan;
}

/** One target, with the settings of requests to it. Null or false if the config does not set them. */
export interface PlannedTarget {
  readonly kind: 'target';
  /** Its path in the config, `config.targets[1]`, which is sent in the response's header. */
  readonly path: string;
  /** Null: the request's own headers or model name the target. */
  readonly where: TargetAccount | null;
  readonly customHost: string | null;
  readonly params: ParamChanges | null;
  /** Lower-case names of headers that are forwarded as the client wrote them, even in place of the gateway's own. */
  readonly forwarded: ReadonlySet<string> | null;
  readonly timeoutMs: number | null;
  readonly onClientDisconnect: ClientDisconnectRule | null;
  readonly unsupportedParameters: UnsupportedParameterRule | null;
  /** Whether the gateway requests the usage of a stream where the client does not. */
  readonly requestsUsage: boolean | null;
  readonly isStrict: boolean | null;
  /** The request is sent to the provider untranslated. */
  readonly isPassedThrough: boolean;
  readonly retry: RetryPlan | null;
  readonly breaker: BreakerPlan | null;
  readonly cache: CacheRules | null;
  readonly hooks: HookLists | null;
}

/** A stored credential by its slug, or a provider with an inline account. */
export type TargetAccount =
  | { readonly virtualKey: string; readonly provider?: undefined }
  | {
      readonly virtualKey?: undefined;
      readonly provider: string;
      /** Null: the caller's own. */
      readonly key: Secret | null;
      /** No other provider of the config uses the caller's own key, so that the key's provider is unambiguous. */
      readonly isOnlyOne: boolean;
      /** By the names of the catalogue. */
      readonly account: Readonly<Record<string, string>>;
    };

/** Changes to a JSON body, in this order. */
export interface ParamChanges {
  /** Set if the request does not have them. */
  readonly defaults: JsonObject;
  readonly overrides: JsonObject;
  readonly drops: readonly ParamPath[];
}

/** Names, indexes, and `*` for every item of a list. */
export type ParamPath = readonly (string | number)[];

export interface RetryPlan {
  /** Maximum retries. */
  readonly attempts: number;
  readonly onStatuses: ReadonlySet<number>;
  /** Waits as long as the provider requires. */
  readonly heedsProvider: boolean;
}

/** When a target is taken out of service. */
export interface BreakerPlan {
  /** Failures in a minute; null for no such threshold. */
  readonly failures: number | null;
  /** Failures in a minute as a share of the requests, 0 to 1, from `minimumRequests` on; null for no such threshold. */
  readonly share: number | null;
  readonly minimumRequests: number;
  readonly cooldownMs: number;
  /** Null: 500 and above. */
  readonly statuses: ReadonlySet<number> | null;
  /** The target's name among processes; null if the config was sent with the request. */
  readonly sharedAs: string | null;
}

/** A compiled config. */
export interface CompiledConfig {
  readonly plan: Plan;
  /** Null for one sent with the request. */
  readonly saved: SavedConfig | null;
  /** Settings of the root for all requests, whichever target they go to. */
  readonly cache: CacheRules | null;
  readonly hooks: HookLists | null;
  /** Number of targets. */
  readonly targetCount: number;
  /**
   * Slugs of the virtual keys that its targets name. Null when a target names neither a provider nor a virtual key: that target is the one
   * that the request names.
   */
  readonly namedKeys: ReadonlySet<string> | null;
  /** A request may be sent more than once. */
  readonly sendsAgain: boolean;
}

export interface SavedConfig {
  readonly id: string;
  readonly slug: string;
  readonly versionId: string;
}

/** The plan of a request without a config: one target, which the request names itself. */
export const DEFAULT_PLAN: PlannedTarget = {
  kind: 'target',
  path: ROOT_OPTION,
  where: null,
  customHost: null,
  params: null,
  forwarded: null,
  timeoutMs: null,
  onClientDisconnect: null,
  unsupportedParameters: null,
  requestsUsage: null,
  isStrict: null,
  isPassedThrough: false,
  retry: null,
  breaker: null,
  cache: null,
  hooks: null,
};

/** The compiled config of a request without one. */
export const NO_CONFIG: CompiledConfig = {
  plan: DEFAULT_PLAN,
  saved: null,
  cache: null,
  hooks: null,
  targetCount: 1,
  namedKeys: null,
  sendsAgain: false,
};
