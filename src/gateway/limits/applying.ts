import { hash } from 'node:crypto';
import { canonicalModel, isSameModel } from '../../common/text/model-name.js';
import type { Policy } from '../../common/limits/limit.js';
import type { PolicyCondition, PolicyKey } from '../../common/limits/rules.js';
import type { Principal } from '../../auth/principal.js';
import type { Target } from '../types/target.js';

const METADATA = 'metadata.';

/** The attributes of a request that limits depend on. */
export interface LimitedRequest {
  readonly caller: Principal;
  readonly target: Target;
  readonly model: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

/** The counter of a limit that a request belongs to. */
export interface LimitGroup {
  /** Of fixed length, so that names of counters stay short whatever a client sends. */
  readonly id: string;
  /** The group's values, for display. */
  readonly text: string;
}

/** Whether a policy applies to a request. */
export function concerns({ conditions }: Policy, request: LimitedRequest): boolean {
  for (const condition of conditions) if (!isMet(condition, request)) return false;
  return true;
}

/** Whether the conditions of a policy depend on the body. */
export const readsBody = ({ conditions }: Policy): boolean => conditions.some(({ key }) => isInBody(key));

const isInBody = (key: PolicyKey): boolean => key === 'model' || key === `${METADATA}_user`;

/** Whether its counter depends on the body, too. */
export const countsByBody = (policy: Policy): boolean => readsBody(policy) || policy.groups.some(isInBody);

/**
 * The group of a request; null if the policy has no groups. Requests without a value share a group, so that omitting it does not bypass the
 * limit.
 */
export function groupOf({ groups }: Policy, request: LimitedRequest): LimitGroup | null {
  if (groups.length === 0) return null;
  const values = groups.map((key) => valueOf(key, request) ?? '');
  return {
    id: groupIdOf(values),
    text: values.map((value, at) => `${groups[at]}:${value}`).join(', '),
  };
}

const GROUP_CHARS = 32;

/** The id of a combination of values. */
function groupIdOf(values: readonly string[]): string {
  return hash('sha256', JSON.stringify(values), 'hex').slice(0, GROUP_CHARS);
}

function isMet({ key, value }: PolicyCondition, request: LimitedRequest): boolean {
  const actual = valueOf(key, request);
  if (actual === null) return false;
  const isMatch = (one: string): boolean =>
    one === '*' ||
    one === actual ||
    (key === 'model' && isSameModel(one, actual, request.target.provider.id));
  return typeof value === 'string' ? isMatch(value) : value.some(isMatch);
}

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
      return modelName(model, target);
  }
}

/** Groups do not depend on the spelling either. */
const modelName = (model: string | null, { provider }: Target): string | null =>
  model === null ? null : canonicalModel(model, provider.id);
