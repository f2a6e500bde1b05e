import { choiceOf, type ListQuery, parameterOf } from '../../common/http/page.js';
import { parameterError } from '../../common/errors/field-errors.js';
import type { PolicyFilter } from './policies.service.js';

type Choices = { readonly [Field in 'type' | 'unit']?: readonly string[] };

/** The filters of a list of policies: by status, and by these fields of the rule. */
export function filterOf(query: ListQuery, fields: Choices): PolicyFilter {
  const said = Object.entries(fields).map(
    ([name, choices]) => [name, choiceOf(query, name, choices)] as const,
  );
  return {
    isArchived: statusOf(query, ['active', 'archived']) === 'archived',
    ...Object.fromEntries(said.filter(([, value]) => value !== undefined)),
  };
}

/** The parameter `status`, or null when omitted. */
export function statusOf<T extends string>(query: ListQuery, known: readonly T[]): T | null {
  const given = parameterOf(query, 'status');
  if (given === undefined) return null;
  const status = known.find((each) => each === given);
  if (status !== undefined) return status;
  throw parameterError('status', `must be ${known.join(' or ')}`);
}
