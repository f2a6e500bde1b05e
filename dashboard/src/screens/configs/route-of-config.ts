import type { Document } from '../../api/configs';
import type { RouteNode } from '../../parts/graph/route-graph';
import { configWords } from '../../words/configs';

const { route: texts } = configWords;

const isDocument = (value: unknown): value is Document =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const documentOf = (value: unknown): Document => (isDocument(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const textOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The route of a document as a tree. `taken`: paths of targets that a simulated request tries first. */
export function routeOfConfig(document: Document, taken: readonly string[]): RouteNode {
  const node = nodeOf(document, 'config', taken);
  return {
    name: texts.request,
    note: texts.any,
    ...(taken.length > 0 && { isTaken: true }),
    children: [node],
  };
}

function nodeOf(config: Document, path: string, taken: readonly string[]): RouteNode {
  const targets = listOf(config.targets).map(documentOf);
  const strategy = documentOf(config.strategy);
  const isTaken = taken.some((one) => one === path || one.startsWith(`${path}.targets[`));
  const edges = edgesOf(strategy, targets);
  return {
    name: nameOf(config, strategy),
    note: targets.length > 0 ? strategyNote(strategy, targets.length) : targetNote(config),
    ...(isTaken && { isTaken }),
    ...(targets.length > 0 && {
      children: targets.map((target, at) => ({
        ...nodeOf(target, `${path}.targets[${at}]`, taken),
        ...(edges[at] && { edge: edges[at] }),
      })),
    }),
  };
}

const nameOf = (config: Document, strategy: Document): string =>
  textOf(config.name) ??
  textOf(config.virtual_key) ??
  textOf(config.provider) ??
  textOf(strategy.mode) ??
  texts.headers;

function strategyNote(strategy: Document, count: number): string {
  switch (strategy.mode) {
    case 'fallback':
      return texts.modes.fallback(count);
    case 'loadbalance':
      return texts.modes.loadbalance(count);
    case 'conditional':
      return texts.modes.conditional(listOf(strategy.conditions).length);
    default:
      return texts.modes.single;
  }
}

function targetNote(config: Document): string {
  const model = textOf(documentOf(config.override_params).model);
  const attempts = documentOf(config.retry).attempts;
  if (model) return model;
  return typeof attempts === 'number' ? texts.retries(attempts) : (textOf(config.provider) ?? '');
}

type Edges = (strategy: Document, targets: readonly Document[]) => readonly (string | null)[];

/** The edge labels of a strategy's targets. */
const EDGES: Readonly<Record<string, Edges>> = {
  fallback: (strategy, targets) => {
    const statuses = listOf(strategy.on_status_codes).join(', ');
    const later = statuses === '' ? texts.ifFailed : texts.ifStatus(statuses);
    return targets.map((_, at) => (at === 0 ? null : later));
  },
  loadbalance: (_, targets) => {
    const weights = targets.map(({ weight }) => (typeof weight === 'number' ? weight : 1));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => (total > 0 ? `${Math.round((100 * weight) / total)} %` : null));
  },
  conditional: (strategy, targets) => {
    const conditions = listOf(strategy.conditions).map(documentOf);
    return targets.map(({ name }) => {
      const condition = conditions.find(({ then }) => then === name);
      if (condition) return conditionText(documentOf(condition.query));
      return name !== undefined && strategy.default === name ? texts.otherwise : null;
    });
  },
};

const edgesOf: Edges = (strategy, targets) => EDGES[String(strategy.mode)]?.(strategy, targets) ?? [];

/** The first comparison of a condition, with equality as `=`: `plan = pro`. */
function conditionText(query: Document): string | null {
  const [field, rule] = Object.entries(query)[0] ?? [];
  if (field === undefined) return null;
  const [operator, value] = Object.entries(documentOf(rule))[0] ?? [];
  const name = field.replace(/^(metadata|params|headers)\./, '');
  if (operator === undefined) return name;
  return `${name} ${operator === '$eq' ? '=' : operator} ${String(value)}`;
}
