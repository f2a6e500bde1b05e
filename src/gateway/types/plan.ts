import type { ClientDisconnectRule } from '../../common/contracts/client-disconnect.js';
import type { UnsupportedParameterRule } from '../../common/contracts/unsupported-parameters.js';
import type { HookLists } from '../../routing-config/guardrails/read-hooks.js';
import type { Condition } from '../../routing-config/conditions.js';
import type { BalanceRule, CacheRules, JsonObject } from '../../routing-config/document.js';
import type { StickyField } from '../../routing-config/sessions.js';
import type { Secret } from '../../common/settings/secret.js';

/**
 * Where a request may go, decided once per config: everything that targets inherit is filled in, so that a request only
 * walks it. Shared by requests and never changed.
 */
export type Plan = PlannedTarget | Fallback | LoadBalance | Conditional;

/** What the answer's header tells where there is nothing to choose. */
export const ROOT_OPTION = 'config';

/** Tries its targets in order. */
export interface Fallback {
  readonly kind: 'fallback';
  readonly path: string;
  readonly targets: readonly Plan[];
  /** Statuses that move on; null for the default. */
  readonly onStatuses: ReadonlySet<number> | null;
  /** How long a stream is held back for its first useful token, so that a target that breaks before it can be replaced. */
  readonly holdMs: number;
  /** Null: no target is asked before the one ahead of it has failed. */
  readonly hedge: HedgePlan | null;
}

/** How long an answer is held back until it has proven itself, and the statuses of a failure that replace it by then. */
export type HoldRule = Pick<Fallback, 'holdMs' | 'onStatuses'>;

/** When a fallback asks its second target beside the first one. */
export interface HedgePlan {
  /** Milliseconds, while too little was measured of the first target; null for not at all then. */
  readonly afterMs: number | null;
  /** Share of the requests, 0 to 1. */
  readonly share: number;
  /** Share of what the requests are estimated at, 0 to 1. */
  readonly spend: number;
}

/** Chooses one target per request. */
export interface LoadBalance {
  readonly kind: 'loadbalance';
  readonly path: string;
  readonly targets: readonly WeightedPlan[];
  readonly by: BalanceRule;
  /** Fields by which requests belong together; null where each request is for itself. */
  readonly stickyBy: readonly StickyField[] | null;
}

export interface WeightedPlan {
  readonly plan: Plan;
  /** Where it stands in the config. */
  readonly path: string;
  /** Above 0. */
  readonly weight: number;
}

/** The first condition that a request meets chooses its target. */
export interface Conditional {
  readonly kind: 'conditional';
  readonly path: string;
  readonly branches: readonly Branch[];
  /** For requests that meet none; null refuses them. */
  readonly otherwise: Plan | null;
}

export interface Branch {
  readonly condition: Condition;
  readonly plan: Plan;
}

/** One place, and what is done to requests that go there. Null or false where the config says nothing. */
export interface PlannedTarget {
  readonly kind: 'target';
  /** Where it stands in the config, `config.targets[1]`: the answer's header tells it. */
  readonly path: string;
  /** Null: where the request's own headers or model say. */
  readonly where: TargetAccount | null;
  readonly customHost: string | null;
  readonly params: ParamChanges | null;
  /** Lower-case names of headers that go on as the client wrote them, also in place of the gateway's own. */
  readonly forwarded: ReadonlySet<string> | null;
  readonly timeoutMs: number | null;
  readonly onClientDisconnect: ClientDisconnectRule | null;
  readonly unsupportedParameters: UnsupportedParameterRule | null;
  readonly isStrict: boolean | null;
  /** The request goes to the provider untranslated. */
  readonly isPassedThrough: boolean;
  readonly retry: RetryPlan | null;
  readonly breaker: BreakerPlan | null;
  readonly cache: CacheRules | null;
  readonly hooks: HookLists | null;
}

/** A stored credential by its slug, or a provider with the account written out. */
export type TargetAccount =
  | { readonly virtualKey: string; readonly provider?: undefined }
  | {
      readonly virtualKey?: undefined;
      readonly provider: string;
      /** Null: the caller's own. */
      readonly key: Secret | null;
      /** No other provider of the config goes by the caller's own key, so that it is clear whose it is. */
      readonly isOnlyOne: boolean;
      /** By the names of the catalogue. */
      readonly account: Readonly<Record<string, string>>;
    };

/** Changes of a JSON body, in this order. */
export interface ParamChanges {
  /** Set where the request says nothing. */
  readonly defaults: JsonObject;
  readonly overrides: JsonObject;
  readonly drops: readonly ParamPath[];
}

/** Names, positions, and `*` for every item of a list. */
export type ParamPath = readonly (string | number)[];

export interface RetryPlan {
  /** Further tries. */
  readonly attempts: number;
  readonly onStatuses: ReadonlySet<number>;
  /** Waits as long as the provider asks. */
  readonly heedsProvider: boolean;
}

/** When a target is taken out of service. */
export interface BreakerPlan {
  /** Failures in a minute; null for no such bound. */
  readonly failures: number | null;
  /** Failures in a minute as a share of the requests, 0 to 1, from `minimumRequests` on; null for no such bound. */
  readonly share: number | null;
  readonly minimumRequests: number;
  readonly cooldownMs: number;
  /** Null: 500 and above. */
  readonly statuses: ReadonlySet<number> | null;
  /** What processes call the target among each other; null where the config came with the request. */
  readonly sharedAs: string | null;
}

/** A config that was compiled. */
export interface CompiledConfig {
  readonly plan: Plan;
  /** Null for one that came with the request. */
  readonly saved: SavedConfig | null;
  /** What the root says for all requests, whichever target they go to. */
  readonly cache: CacheRules | null;
  readonly hooks: HookLists | null;
  /** How many places there are. */
  readonly targetCount: number;
  /**
   * Slugs of the virtual keys that its targets name. Null when a target names neither a provider nor a virtual key: that one goes where
   * the request says.
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

/** The plan of a request without a config: one place, which the request names itself. */
export const AS_ASKED: PlannedTarget = {
  kind: 'target',
  path: ROOT_OPTION,
  where: null,
  customHost: null,
  params: null,
  forwarded: null,
  timeoutMs: null,
  onClientDisconnect: null,
  unsupportedParameters: null,
  isStrict: null,
  isPassedThrough: false,
  retry: null,
  breaker: null,
  cache: null,
  hooks: null,
};

/** What a request without a config goes by. */
export const NO_CONFIG: CompiledConfig = {
  plan: AS_ASKED,
  saved: null,
  cache: null,
  hooks: null,
  targetCount: 1,
  namedKeys: null,
  sendsAgain: false,
};
