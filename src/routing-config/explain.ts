import { requestMetadata } from '../common/contracts/request-metadata.js';
import { cheapest, leastOf } from './cheapest.js';
import { readCondition, type RoutedRequest } from './conditions.js';
import { conditionDecision } from './decisions.js';
import type { RoutingConfig, Strategy } from './document.js';
import { DocumentPath } from './document-path.js';
import { stickySession, shareOfSession, stickyFields } from './sessions.js';

/** The routing of a request, without sending any. */
export interface Explanation {
  /** The decisions and their reasons, from the root down: `config: conditions[0] holds, so config.targets[1]`. */
  readonly decisions: readonly string[];
  /** The possible targets, in the order in which they would be tried. */
  readonly targets: readonly ExplainedTarget[];
}

export interface ExplainedTarget {
  readonly path: string;
  readonly name: string | null;
  /** Slug of a virtual key, or id of a provider; both null if the request's own headers decide. */
  readonly virtual_key: string | null;
  readonly provider: string | null;
  /** The model that would be requested, from the client's body and the config. */
  readonly model: string | null;
  /** Its weight in a load balance; null elsewhere. */
  readonly weight: number | null;
  /** Average price of a token there, nano-dollars per million; null when unknown. */
  readonly token_price: number | null;
  /** Share of such requests that take this path, 0 to 1: by weight, as long as targets are equally fast and busy. */
  readonly share: number;
  /** The target or branch that has to fail before; null for a first choice. */
  readonly after: string | null;
  /** Maximum number of retries. */
  readonly retries: number;
}

/** The destination of a target, by which its price is looked up. */
export type ExplainedModel = Pick<ExplainedTarget, 'virtual_key' | 'provider' | 'model'>;

/** Average price of a token at a destination, nano-dollars per million; null when unknown. */
export type TokenPrices = (place: ExplainedModel) => number | null;

const NO_PRICES: TokenPrices = () => null;

/** Walks a config as a request would, with every target in service, making the same choices as the gateway. */
export function explainRouting(
  config: RoutingConfig,
  request: RoutedRequest,
  prices: TokenPrices = NO_PRICES,
): Explanation {
  const metadata = requestMetadata(request.metadata, request.params);
  const walk = new ExplainingWalk({ ...request, metadata }, prices);
  walk.node({ config, path: 'config', share: 1, after: null, weight: null, parents: [config] });
  return { decisions: walk.decisions, targets: walk.targets };
}

/** A target of a load balance. */
interface TargetShare {
  readonly weight: number;
  readonly index: number;
  readonly path: string;
}

interface ExplainedNode {
  readonly config: RoutingConfig;
  readonly path: string;
  readonly share: number;
  readonly after: string | null;
  readonly weight: number | null;
  /** From the root to this one, inclusive. */
  readonly parents: readonly RoutingConfig[];
}

class ExplainingWalk {
  readonly decisions: string[] = [];
  readonly targets: ExplainedTarget[] = [];

  constructor(
    private readonly request: RoutedRequest,
    private readonly prices: TokenPrices,
  ) {}

  /** Whether an enclosing fallback may continue after it: not after a conditional that refuses the request. */
  node(node: ExplainedNode): boolean {
    const { strategy, targets } = node.config;
    if (strategy && targets) return this[strategy.mode](node, strategy);
    this.targets.push(this.explained(node));
    return true;
  }

  private single(node: ExplainedNode): boolean {
    return this.node(childOf(node, 0));
  }

  private fallback(node: ExplainedNode, { hedge }: Strategy): boolean {
    if (hedge)
      this.decisions.push(
        `${node.path}: the second target is asked too when the first takes longer than it almost always does`,
      );
    const count = node.config.targets?.length ?? 0;
    for (let index = 0; index < count; index++) {
      const after = index === 0 ? node.after : `${node.path}.targets[${index - 1}]`;
      if (!this.node({ ...childOf(node, index), after })) return false;
    }
    return true;
  }

  private loadbalance(node: ExplainedNode, { sticky, balance_by: by = 'weight' }: Strategy): boolean {
    const shares = (node.config.targets ?? [])
      .map(({ weight = 1 }, index) => ({ weight, index, path: `${node.path}.targets[${index}]` }))
      .filter(({ weight }) => weight > 0);
    const fields = stickyFields(sticky);
    const session = fields && stickySession(fields, this.request);
    if (session !== null) {
      const { index, path } = shareOfSession(shares, session);
      this.decisions.push(`${node.path}: the session belongs to ${path}`);
      return this.node(childOf(node, index));
    }
    if (by === 'cost') return this.byCost(node, shares);
    this.decisions.push(`${node.path}: one of ${shares.length} targets by ${by}`);
    return this.divide(node, shares, shares);
  }

  /** The cheapest ones share the requests; the others follow in order of price. */
  private byCost(node: ExplainedNode, shares: readonly TargetShare[]): boolean {
    const costs = new Map(shares.map((share) => [share, this.costOf(childOf(node, share.index))] as const));
    const costOf = (share: TargetShare): number | null => costs.get(share) ?? null;
    const chosen = cheapest(shares, costOf);
    const why = chosen.some((share) => costOf(share) !== null)
      ? `${chosen.map(({ path }) => path).join(', ')} at the least cost`
      : 'no price is known, so any by weight';
    this.decisions.push(`${node.path}: ${why}`);
    const sorted = [...shares].sort((one, other) => (costOf(one) ?? Infinity) - (costOf(other) ?? Infinity));
    return this.divide(node, sorted, chosen);
  }

  private divide(
    node: ExplainedNode,
    shares: readonly TargetShare[],
    chosen: readonly TargetShare[],
  ): boolean {
    let mayGoOn = false;
    const total = chosen.reduce((sum, { weight }) => sum + weight, 0);
    for (const share of shares) {
      const child = childOf(node, share.index);
      const { weight } = share;
      const part = chosen.includes(share) ? (child.share * weight) / total : 0;
      const goesOn = this.node({ ...child, weight, share: part });
      mayGoOn ||= goesOn;
    }
    return mayGoOn;
  }

  /** The price of a token if that branch were chosen first. */
  private costOf(node: ExplainedNode): number | null {
    const walk = new ExplainingWalk(this.request, this.prices);
    walk.node({ ...node, after: null });
    return leastOf(walk.targets.filter(({ after }) => after === null).map(({ token_price }) => token_price));
  }

  private conditional(node: ExplainedNode, { conditions = [], default: otherwise }: Strategy): boolean {
    const held = conditions.findIndex(({ query }) =>
      readCondition(query, DocumentPath.root([]))(this.request),
    );
    const name = conditions[held]?.then ?? otherwise;
    const index = node.config.targets?.findIndex((target) => target.name === name) ?? -1;
    const isSomewhere = name !== undefined && index >= 0;
    const to = isSomewhere ? `${node.path}.targets[${index}]` : null;
    this.decisions.push(conditionDecision(node.path, held, to));
    return isSomewhere && this.node(childOf(node, index));
  }

  private explained({ config, path, share, after, weight, parents }: ExplainedNode): ExplainedTarget {
    const stated =
      nearest(parents, ({ override_params }) => override_params?.model) ?? this.request.params?.model;
    const model = typeof stated === 'string' ? stated : null;
    const place = placeOf(config, model, this.request);
    const retry = nearest(parents, (parent) => parent.retry);
    const token_price = this.prices(place);
    const retries = retry?.attempts ?? 0;
    return { path, name: config.name ?? null, ...place, weight, token_price, share, after, retries };
  }
}

function childOf(node: ExplainedNode, index: number): ExplainedNode {
  const config = node.config.targets?.[index] ?? {};
  return { ...node, config, path: `${node.path}.targets[${index}]`, parents: [...node.parents, config] };
}

/** The value of a target, or else of its closest parent that has one. */
function nearest<T>(
  parents: readonly RoutingConfig[],
  stated: (config: RoutingConfig) => T | undefined,
): T | undefined {
  return parents.map(stated).findLast((value) => value !== undefined);
}

const SLUG = /^@([^/]+)\/(.+)$/;

function placeOf(config: RoutingConfig, reference: string | null, request: RoutedRequest): ExplainedModel {
  const { slug, model } = namedIn(reference);
  const stated = listed(config) ?? (slug === null ? null : `@${slug}`) ?? headersSay(request);
  return stated?.startsWith('@')
    ? { virtual_key: stated.slice(1), provider: null, model }
    : { virtual_key: null, provider: stated, model };
}

/** A provider's id, or `@slug` of a virtual key. */
function listed({ virtual_key, provider }: RoutingConfig): string | null {
  return virtual_key === undefined ? (provider ?? null) : withAt(virtual_key);
}

const withAt = (slug: string): string => (slug.startsWith('@') ? slug : `@${slug}`);

function headersSay(request: RoutedRequest): string | null {
  const slug = headerOf(request, 'virtual-key');
  return slug === null ? headerOf(request, 'provider') : withAt(slug);
}

/** In either spelling. */
function headerOf({ headers }: RoutedRequest, name: string): string | null {
  const stated = headers[`x-gateway-${name}`] ?? headers[`x-portkey-${name}`];
  return typeof stated === 'string' && stated !== '' ? stated : null;
}

/** A model may name its provider, `@slug/model`. */
function namedIn(reference: string | null): { readonly slug: string | null; readonly model: string | null } {
  const named = SLUG.exec(reference ?? '');
  return named ? { slug: named[1] ?? null, model: named[2] ?? null } : { slug: null, model: reference };
}
