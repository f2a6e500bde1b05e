import { readCondition, type RoutedRequest } from './conditions.js';
import type { RoutingConfig, Strategy } from './document.js';
import { Place } from './place.js';
import { sessionOf, shareOfSession, stickyFields } from './sessions.js';

/** What would become of a request, without any being sent. */
export interface Explanation {
  /** What was decided and by what, from the root down: `config: conditions[0] holds, so config.targets[1]`. */
  readonly decisions: readonly string[];
  /** Where it could go, in the order in which targets would be tried. */
  readonly targets: readonly ExplainedTarget[];
}

export interface ExplainedTarget {
  readonly path: string;
  readonly name: string | null;
  /** Slug of a virtual key, or id of a provider; both null where the request's own headers say. */
  readonly virtual_key: string | null;
  readonly provider: string | null;
  /** The model that would be asked for, as the client's body and the config say. */
  readonly model: string | null;
  /** Share of such requests that take this way, 0 to 1. */
  readonly share: number;
  /** The target or branch that has to fail before; null for a first choice. */
  readonly after: string | null;
  /** Further tries at most. */
  readonly retries: number;
}

/** Walks a config as a request would, with every target in service. It has the same mind as the gateway's own walk. */
export function explainRouting(config: RoutingConfig, request: RoutedRequest): Explanation {
  const walk = new ExplainingWalk(request);
  walk.node({ config, path: 'config', share: 1, after: null, parents: [config] });
  return { decisions: walk.decisions, targets: walk.targets };
}

interface Node {
  readonly config: RoutingConfig;
  readonly path: string;
  readonly share: number;
  readonly after: string | null;
  /** From the root to this one, itself included. */
  readonly parents: readonly RoutingConfig[];
}

class ExplainingWalk {
  readonly decisions: string[] = [];
  readonly targets: ExplainedTarget[] = [];

  constructor(private readonly request: RoutedRequest) {}

  node(node: Node): void {
    const { strategy, targets } = node.config;
    if (!strategy || !targets) this.targets.push(this.explained(node));
    else this[strategy.mode](node, strategy);
  }

  private single(node: Node): void {
    this.node(childOf(node, 0));
  }

  private fallback(node: Node): void {
    const count = node.config.targets?.length ?? 0;
    for (let index = 0; index < count; index++) {
      const after = index === 0 ? node.after : `${node.path}.targets[${index - 1}]`;
      this.node({ ...childOf(node, index), after });
    }
  }

  private loadbalance(node: Node, { sticky }: Strategy): void {
    const shares = (node.config.targets ?? [])
      .map(({ weight = 1 }, index) => ({ weight, index, path: `${node.path}.targets[${index}]` }))
      .filter(({ weight }) => weight > 0);
    const fields = stickyFields(sticky);
    const session = fields && sessionOf(fields, this.request);
    if (session !== null) {
      const { index, path } = shareOfSession(shares, session);
      this.decisions.push(`${node.path}: the session belongs to ${path}`);
      return this.node(childOf(node, index));
    }
    const total = shares.reduce((sum, { weight }) => sum + weight, 0);
    this.decisions.push(`${node.path}: one of ${shares.length} targets by weight`);
    for (const { index, weight } of shares) {
      const child = childOf(node, index);
      this.node({ ...child, share: (child.share * weight) / total });
    }
  }

  private conditional(node: Node, { conditions = [], default: otherwise }: Strategy): void {
    const held = conditions.findIndex(({ query }) => readCondition(query, Place.root([]))(this.request));
    const name = conditions[held]?.then ?? otherwise;
    const index = node.config.targets?.findIndex((target) => target.name === name) ?? -1;
    if (name === undefined || index < 0) {
      this.decisions.push(`${node.path}: no condition holds and there is no default, so the request is refused`);
      return;
    }
    const why = held < 0 ? 'no condition holds' : `conditions[${held}] holds`;
    this.decisions.push(`${node.path}: ${why}, so ${node.path}.targets[${index}]`);
    this.node(childOf(node, index));
  }

  private explained({ config, path, share, after, parents }: Node): ExplainedTarget {
    const said = nearest(parents, ({ override_params }) => override_params?.model) ?? this.request.params?.model;
    const model = typeof said === 'string' ? said : null;
    const place = placeOf(config, model);
    const retry = nearest(parents, (parent) => parent.retry);
    return { path, name: config.name ?? null, ...place, share, after, retries: retry?.attempts ?? 0 };
  }
}

function childOf(node: Node, index: number): Node {
  const config = node.config.targets?.[index] ?? {};
  return { ...node, config, path: `${node.path}.targets[${index}]`, parents: [...node.parents, config] };
}

/** What a target says itself, or else the closest of its parents that says it. */
function nearest<T>(parents: readonly RoutingConfig[], said: (config: RoutingConfig) => T | undefined): T | undefined {
  return parents.map(said).findLast((value) => value !== undefined);
}

const SLUG = /^@([^/]+)(?:\/(.+))?$/;

function placeOf(
  { virtual_key, provider }: RoutingConfig,
  model: string | null,
): Pick<ExplainedTarget, 'virtual_key' | 'provider' | 'model'> {
  const [, slug, bare] = SLUG.exec(model ?? '') ?? [];
  const named = virtual_key ?? (provider?.startsWith('@') ? provider : undefined) ?? (provider ? undefined : slug);
  return {
    virtual_key: named?.replace(/^@/, '') ?? null,
    provider: named === undefined ? (provider ?? null) : null,
    model: bare ?? model,
  };
}
