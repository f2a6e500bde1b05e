import type { RoutingConfig, Strategy } from '../../../routing-config/document.js';
import type { ShownAttempt } from '../request-parts.js';

export const ATTEMPT_KINDS = ['first', 'retry', 'fallback', 'hedge', 'side_call'] as const;

/** Why an attempt was made. */
export interface AttemptReason {
  readonly kind: (typeof ATTEMPT_KINDS)[number];
  /** The attempt whose result led to it; null for a first attempt. */
  readonly after_attempt: number | null;
  /** The status of that result; null without a response. */
  readonly status: number | null;
  readonly error_code: string | null;
  /** The list in the config that contains the status; null if the default rule applied or the config is not recorded. */
  readonly setting: string | null;
}

type TriedAttempt = Pick<ShownAttempt, 'attempt' | 'option_path' | 'provider' | 'status' | 'error_code'>;

/** The gateway's side requests, such as the embedding of a semantic cache. */
const SIDE_CALL = /\.embedding$/;
const TARGET = /\.targets\[(\d+)\]/g;

/** Derives why each attempt was made from what was recorded. `document`: the config of the request; null if it is not saved. */
export function attemptReasons(
  attempts: readonly TriedAttempt[],
  document: RoutingConfig | null,
  hedgedTo: ReadonlySet<string>,
): readonly AttemptReason[] {
  const tries = attempts.filter(({ option_path }) => !isSideCall(option_path));
  return attempts.map((attempt) => {
    if (isSideCall(attempt.option_path)) return { ...FIRST, kind: 'side_call' };
    const before = tries[tries.indexOf(attempt) - 1];
    return before ? reasonAfter(before, attempt, { document, hedgedTo }) : FIRST;
  });
}

const FIRST: AttemptReason = {
  kind: 'first',
  after_attempt: null,
  status: null,
  error_code: null,
  setting: null,
};

const isSideCall = (path: string | null): boolean => SIDE_CALL.test(path ?? '');

interface RouteFacts {
  readonly document: RoutingConfig | null;
  readonly hedgedTo: ReadonlySet<string>;
}

function reasonAfter(
  before: TriedAttempt,
  attempt: TriedAttempt,
  { document, hedgedTo }: RouteFacts,
): AttemptReason {
  const result = { after_attempt: before.attempt, status: before.status, error_code: before.error_code };
  const path = attempt.option_path ?? 'config';
  if (before.option_path === attempt.option_path && before.provider === attempt.provider)
    return { ...result, kind: 'retry', setting: retrySetting(document, path, before.status) };
  if (hedgedTo.has(path)) return { ...FIRST, kind: 'hedge' };
  return {
    ...result,
    kind: 'fallback',
    setting: fallbackSetting(document, [before.option_path ?? 'config', path], before.status),
  };
}

interface ConfigAtPath {
  readonly path: string;
  readonly config: RoutingConfig;
}

/** The nodes of the document from its root down to a path. */
function nodesOn(document: RoutingConfig | null, path: string): readonly ConfigAtPath[] {
  if (!document) return [];
  const nodes: ConfigAtPath[] = [{ path: 'config', config: document }];
  for (const [step, index] of path.matchAll(TARGET)) {
    const parent = nodes[nodes.length - 1];
    const config = parent?.config.targets?.[Number(index)];
    if (!parent || !config) break;
    nodes.push({ path: parent.path + step, config });
  }
  return nodes;
}

const names = (list: readonly number[] | undefined, status: number | null): boolean =>
  status !== null && list?.includes(status) === true;

function retrySetting(document: RoutingConfig | null, path: string, status: number | null): string | null {
  const node = nodesOn(document, path).findLast(({ config }) => config.retry !== undefined);
  return node && names(node.config.retry?.on_status_codes, status)
    ? `${node.path}.retry.on_status_codes`
    : null;
}

/** The deepest fallback on both paths made the switch. */
function fallbackSetting(
  document: RoutingConfig | null,
  [before, path]: readonly [string, string],
  status: number | null,
): string | null {
  const isFallback = (strategy: Strategy | undefined): boolean => strategy?.mode === 'fallback';
  const node = nodesOn(document, path).findLast(
    (each) => isFallback(each.config.strategy) && path !== each.path && before.startsWith(`${each.path}.`),
  );
  return node && names(node.config.strategy?.on_status_codes, status)
    ? `${node.path}.strategy.on_status_codes`
    : null;
}
