import { HOOK_LIST_NAMES, type HookLists } from '../../routing-config/guardrails/read-hooks.js';
import { ACCOUNT_FIELDS, ACCOUNT_SECRETS } from '../../routing-config/account-fields.js';
import { readCondition } from '../../routing-config/conditions.js';
import type {
  BreakerRules,
  HedgeRules,
  JsonObject,
  RetryRules,
  RoutingConfig,
  Strategy,
} from '../../routing-config/document.js';
import { stickyFields } from '../../routing-config/sessions.js';
import { DocumentPath } from '../../routing-config/document-path.js';
import { Secret } from '../../common/settings/secret.js';
import {
  type BreakerPlan,
  type CompiledConfig,
  type Conditional,
  type HedgePlan,
  type LoadBalance,
  type ParamChanges,
  type ParamPath,
  type Plan,
  type PlannedTarget,
  type RetryPlan,
  ROOT_OPTION,
  type SavedConfig,
  type TargetAccount,
} from '../types/plan.js';
import { modelTarget } from './named-model.js';

/** Retried statuses if the config names none; 529 is Anthropic's "overloaded". */
const RETRIED: ReadonlySet<number> = new Set([429, 500, 502, 503, 504, 529]);

/** How long a fallback holds a stream by default. */
const HOLD_MS = 10_000;

/** Default limits of hedged attempts, in percent of requests and of cost. */
const HEDGED_SHARE = 5;
const HEDGED_SPEND = 10;

/** A breaker without a threshold in its config opens when half of the requests fail. */
const FAILING_SHARE = 0.5;
const MINIMUM_REQUESTS = 5;
const COOLDOWN_MS = 30_000;

/** The plan of a parsed config. Everything is computed here, once; requests only walk it. */
export function planFromConfig(config: RoutingConfig, saved: SavedConfig | null): CompiledConfig {
  const compiler = new Compiler(saved, keylessIn(config).size <= 1);
  const plan = compiler.node(config, ROOT_OPTION, config);
  return {
    plan,
    saved,
    cache: config.cache ?? null,
    hooks: hooksOf(config),
    targetCount: compiler.targetCount,
    namedKeys: compiler.isOpen ? null : compiler.namedKeys,
    sendsAgain: compiler.sendsAgain,
  };
}

class Compiler {
  targetCount = 0;
  sendsAgain = false;
  /** A target names no destination. */
  isOpen = false;
  readonly namedKeys = new Set<string>();

  /** `isOnlyOne`: the targets without a key name one provider at most. */
  constructor(
    private readonly saved: SavedConfig | null,
    private readonly isOnlyOne: boolean,
  ) {}

  /** `all` is the node with everything that it inherits. */
  node(own: RoutingConfig, path: string, all: RoutingConfig): Plan {
    const { strategy, targets } = own;
    if (!strategy || !targets) return this.target(own, path, all);
    const children = targets.map((target, index) =>
      this.node(target, `${path}.targets[${index}]`, inherited(all, target)),
    );
    const first = children[0] as Plan;
    switch (strategy.mode) {
      case 'single':
        return first;
      case 'fallback':
        this.sendsAgain = true;
        return {
          kind: 'fallback',
          path,
          targets: children,
          onStatuses: setOf(strategy.on_status_codes),
          holdMs: strategy.hold_stream_ms ?? HOLD_MS,
          hedge: strategy.hedge ? hedgeOf(strategy.hedge) : null,
        };
      case 'loadbalance':
        return balanced(strategy, path, targets, children);
      case 'conditional':
        return conditional(strategy, path, targets, children);
    }
  }

  private target(own: RoutingConfig, path: string, all: RoutingConfig): PlannedTarget {
    this.targetCount += 1;
    if (all.retry && all.retry.attempts > 0) this.sendsAgain = true;
    const { overrides, where } = placed(own, all.override_params ?? {}, this.isOnlyOne);
    if (where === null) this.isOpen = true;
    else if (where.virtualKey !== undefined) this.namedKeys.add(where.virtualKey);
    return {
      kind: 'target',
      path,
      where,
      params: changesOf(all, overrides),
      ...wayOf(all),
      ...rulesOf(all, this.sharedName(path)),
    };
  }

  private sharedName(path: string): string | null {
    return this.saved && `${this.saved.versionId}:${path}`;
  }
}

type Way = Pick<
  PlannedTarget,
  | 'customHost'
  | 'forwarded'
  | 'timeoutMs'
  | 'onClientDisconnect'
  | 'unsupportedParameters'
  | 'requestsUsage'
  | 'isStrict'
  | 'isPassedThrough'
>;
type Rules = Pick<PlannedTarget, 'retry' | 'breaker' | 'cache' | 'hooks'>;

function wayOf(all: RoutingConfig): Way {
  return {
    customHost: all.custom_host ?? null,
    forwarded: setOf(all.forward_headers?.map((name) => name.toLowerCase())),
    timeoutMs: all.request_timeout ?? null,
    onClientDisconnect: all.on_client_disconnect ?? null,
    unsupportedParameters: all.unsupported_parameters ?? null,
    requestsUsage: all.stream_usage ?? null,
    isStrict: all.strict_open_ai_compliance ?? null,
    isPassedThrough: all.passthrough ?? false,
  };
}

function rulesOf(all: RoutingConfig, sharedAs: string | null): Rules {
  return {
    retry: all.retry ? retryOf(all.retry) : null,
    breaker: all.cb_config ? breakerOf(all.cb_config, sharedAs) : null,
    cache: all.cache ?? null,
    hooks: hooksOf(all),
  };
}

function hedgeOf({ after_ms, max_share, max_spend }: HedgeRules): HedgePlan {
  return {
    afterMs: after_ms ?? null,
    share: (max_share ?? HEDGED_SHARE) / 100,
    spend: (max_spend ?? HEDGED_SPEND) / 100,
  };
}

function breakerOf(rules: BreakerRules, sharedAs: string | null): BreakerPlan {
  const { failure_threshold: failures = null, failure_threshold_percentage: percentage } = rules;
  const share = percentage === undefined ? null : percentage / 100;
  return {
    failures,
    share: share ?? (failures === null ? FAILING_SHARE : null),
    minimumRequests: rules.minimum_requests ?? MINIMUM_REQUESTS,
    cooldownMs: rules.cooldown_interval ?? COOLDOWN_MS,
    statuses: setOf(rules.failure_status_codes),
    sharedAs,
  };
}

/** Settings of a node that do not apply to its targets. */
const NOT_INHERITED: ReadonlySet<string> = new Set(['strategy', 'targets', 'name', 'weight']);

/** A target inherits the settings that it does not have itself from its parent. Parameters are merged, and the child's win. */
function inherited(parent: RoutingConfig, child: RoutingConfig): RoutingConfig {
  const handedOn = Object.entries(parent).filter(([field]) => !NOT_INHERITED.has(field));
  const breaker = parent.strategy?.cb_config;
  return {
    ...Object.fromEntries(handedOn),
    ...(breaker ? { cb_config: breaker } : {}),
    ...child,
    override_params: { ...parent.override_params, ...child.override_params },
    default_params: { ...parent.default_params, ...child.default_params },
    drop_params: [...(parent.drop_params ?? []), ...(child.drop_params ?? [])],
  };
}

function balanced(
  { sticky, balance_by: by = 'weight' }: Strategy,
  path: string,
  targets: readonly RoutingConfig[],
  children: readonly Plan[],
): LoadBalance {
  const weighted = children.map((plan, index) => ({
    plan,
    // Its own path in the config. A "single" strategy has the plan of its target, whose path is longer.
    path: `${path}.targets[${index}]`,
    weight: targets[index]?.weight ?? 1,
  }));
  const drawn = weighted.filter(({ weight }) => weight > 0);
  return { kind: 'loadbalance', path, by, targets: drawn, stickyBy: stickyFields(sticky) };
}

function conditional(
  { conditions = [], default: otherwise }: Strategy,
  path: string,
  targets: readonly RoutingConfig[],
  children: readonly Plan[],
): Conditional {
  const byName = new Map(targets.map(({ name }, index) => [name, children[index] as Plan]));
  const branches = conditions.map(({ query, then }) => ({
    condition: readCondition(query, DocumentPath.root([])),
    plan: byName.get(then) as Plan,
  }));
  return { kind: 'conditional', path, branches, otherwise: byName.get(otherwise ?? '') ?? null };
}

/** A model may name the virtual key, `@slug/model`, if the target names no destination itself. */
function placed(
  own: RoutingConfig,
  overrides: JsonObject,
  isOnlyOne: boolean,
): { where: TargetAccount | null; overrides: JsonObject } {
  const where = whereOf(own, isOnlyOne);
  const named = typeof overrides.model === 'string' ? modelTarget(overrides.model) : null;
  if (!named) return { where, overrides };
  return { where: where ?? { virtualKey: named.slug }, overrides: { ...overrides, model: named.model } };
}

/** Providers that targets name without a key: these would receive the caller's own. */
function keylessIn(config: RoutingConfig, found = new Set<string>()): ReadonlySet<string> {
  const where = whereOf(config, true);
  if (where?.provider !== undefined && where.key === null) found.add(where.provider);
  for (const target of config.targets ?? []) keylessIn(target, found);
  return found;
}

function whereOf(own: RoutingConfig, isOnlyOne: boolean): TargetAccount | null {
  const { virtual_key, provider } = own;
  if (virtual_key !== undefined) return { virtualKey: withoutAt(virtual_key) };
  if (provider === undefined) return null;
  if (provider.startsWith('@')) return { virtualKey: withoutAt(provider) };
  const secret = [own.api_key, ...ACCOUNT_SECRETS.map((name) => own[name])].find(
    (value) => value !== undefined,
  );
  const account = ACCOUNT_FIELDS.flatMap((name) => {
    const value = own[name];
    return value === undefined ? [] : [[name.replaceAll('_', '-'), value] as const];
  });
  return {
    provider,
    key: secret === undefined ? null : new Secret(secret),
    isOnlyOne,
    account: Object.fromEntries(account),
  };
}

const withoutAt = (slug: string): string => (slug.startsWith('@') ? slug.slice(1) : slug);

function changesOf(all: RoutingConfig, overrides: JsonObject): ParamChanges | null {
  const { default_params: defaults = {}, drop_params: drops = [] } = all;
  const isNothing =
    drops.length === 0 && Object.keys(overrides).length === 0 && Object.keys(defaults).length === 0;
  return isNothing ? null : { defaults, overrides, drops: drops.map(pathOf) };
}

/** Splits `tools[*].strict` into steps. */
function pathOf(path: string): ParamPath {
  const steps = path.split(/[.[\]]+/).filter((step) => step !== '');
  return steps.map((step) => (/^\d+$/.test(step) ? Number(step) : step));
}

function retryOf({ attempts, on_status_codes, use_retry_after_header = false }: RetryRules): RetryPlan {
  return { attempts, onStatuses: setOf(on_status_codes) ?? RETRIED, heedsProvider: use_retry_after_header };
}

/** The list objects of the document itself, so that targets share inherited ones. */
function hooksOf(config: RoutingConfig): HookLists | null {
  const lists = HOOK_LIST_NAMES.flatMap((name) =>
    config[name]?.length ? [[name, config[name]] as const] : [],
  );
  return lists.length === 0 ? null : Object.fromEntries(lists);
}

function setOf<T>(values: readonly T[] | undefined): ReadonlySet<T> | null {
  return values && values.length > 0 ? new Set(values) : null;
}
