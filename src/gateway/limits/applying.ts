import { hash } from 'node:crypto';
import type { Limit, Policy } from '../../common/limits/limit.js';
import type { PolicyCondition, PolicyKey } from '../../common/limits/rules.js';
import type { Principal } from '../../auth/principal.js';
import type { Target } from '../types/target.js';

/** What limits look at. */
export interface LimitedRequest {
  readonly caller: Principal;
  readonly target: Target;
  readonly model: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** A limit that applies. `group` is empty where the limit has no groups. */
export interface Applying {
  readonly limit: Limit;
  /** Of a fixed length, so that names of counters stay short whatever a client sends. */
  readonly group: string;
  /** The group's values, for people. */
  readonly groupText: string | null;
  /** It limits the caller, and so the request as a whole and not each of its attempts. */
  readonly isCallers: boolean;
}

/** Every limit that applies to an attempt: of the key, the workspace, its policies and the virtual key. */
export function limitsApplying(request: LimitedRequest): Applying[] {
  const { limits: ofCaller } = request.caller;
  const { virtualKey } = request.target;
  return [
    ...(ofCaller ? ofCaller.limits.map((limit) => alone(limit, true)) : []),
    ...(ofCaller ? policiesMet(ofCaller.policies, request) : []),
    ...(virtualKey?.limits ?? []).map((limit) => alone(limit, false)),
  ];
}

function policiesMet(policies: readonly Policy[], request: LimitedRequest): Applying[] {
  return policies
    .filter(({ conditions }) => conditions.every((condition) => isMet(condition, request)))
    .map((policy) => grouped(policy, request));
}

const alone = (limit: Limit, isCallers: boolean): Applying => ({
  limit,
  group: '',
  groupText: null,
  isCallers,
});

/** Requests that lack a value are counted together, so that leaving it out is no way around the limit. */
function grouped({ limit, groups }: Policy, request: LimitedRequest): Applying {
  if (groups.length === 0) return alone(limit, true);
  const values = groups.map((key) => [key, valueOf(key, request) ?? ''] as const);
  return {
    limit,
    group: groupIdOf(values.map(([, value]) => value)),
    groupText: values.map(([key, value]) => `${key}:${value}`).join(', '),
    isCallers: true,
  };
}

const GROUP_CHARS = 32;

/** The name of a combination of values. */
export function groupIdOf(values: readonly string[]): string {
  return hash('sha256', JSON.stringify(values), 'hex').slice(0, GROUP_CHARS);
}

function isMet({ key, value }: PolicyCondition, request: LimitedRequest): boolean {
  const actual = valueOf(key, request);
  if (actual === null) return false;
  const wanted = typeof value === 'string' ? [value] : value;
  return wanted.includes('*') || wanted.includes(actual);
}

const METADATA = 'metadata.';

function valueOf(key: PolicyKey, { caller, target, model, metadata }: LimitedRequest): string | null {
  if (key.startsWith(METADATA)) return metadata?.[key.slice(METADATA.length)] ?? null;
  switch (key) {
    case 'api_key':
      return caller.apiKeyId;
    case 'workspace_id':
      return caller.workspaceId;
    case 'virtual_key':
      return target.virtualKey?.slug ?? null;
    case 'provider':
      return target.provider.id;
    default:
      return model;
  }
}
