import type { ParametersOf } from '../../../routing-config/guardrails/check-parameters.js';
import { REQUEST_TYPES } from '../../../routing-config/guardrails/request-types.js';
import type { Check, Facts } from '../check.js';
import { holds } from './wording.js';

/** Checks of the request's parameters, not of its texts. */

/** The model as the client wrote it, and without the virtual key in it. */
function namesOf({ model, request }: Facts): string[] {
  return [model, request?.model].filter((name): name is string => typeof name === 'string' && name !== '');
}

export const modelWhitelist = ({ models, not }: ParametersOf<'default.modelwhitelist'>): Check => ({
  run: ({ facts }) => ({
    verdict: namesOf(facts).some((name) => models.includes(name)) !== not,
    data: { model: facts.model, not },
  }),
});

/** Models by metadata: those of every rule that applies, or the defaults when none does. */
export const modelRules = ({
  rules: { defaults, metadata },
  not,
}: ParametersOf<'default.modelRules'>): Check => ({
  run: ({ facts }) => {
    const applying = Object.entries(metadata).flatMap(([key, byValue]) => {
      const value = facts.metadata && Object.hasOwn(facts.metadata, key) ? facts.metadata[key] : undefined;
      return value !== undefined && Object.hasOwn(byValue, value)
        ? [{ rule: `${key}:${value}`, models: byValue[value] ?? [] }]
        : [];
    });
    const allowed = applying.length > 0 ? applying.flatMap(({ models }) => models) : defaults;
    return {
      verdict: namesOf(facts).some((name) => allowed.includes(name)) !== not,
      data: { model: facts.model, rules: applying.map(({ rule }) => rule), not },
    };
  },
});

export const requiredMetadataKeys = ({
  metadataKeys,
  operator,
}: ParametersOf<'default.requiredMetadataKeys'>): Check => ({
  run: ({ facts }) => {
    const present = metadataKeys.filter((key) => facts.metadata && Object.hasOwn(facts.metadata, key));
    const missing = metadataKeys.filter((key) => !present.includes(key));
    return {
      verdict: holds(operator, present.length, metadataKeys.length),
      data: { operator, present, missing },
    };
  },
});

/** Blocked types are refused; if there are allowed types, only those pass. */
export const allowedRequestTypes = ({
  allowedTypes,
  blockedTypes,
}: ParametersOf<'default.allowedRequestTypes'>): Check => ({
  run: ({ facts: { endpoint } }) => {
    const type = (REQUEST_TYPES as Readonly<Record<string, string>>)[endpoint ?? ''] ?? 'proxy';
    const isAllowed = allowedTypes.length === 0 || allowedTypes.includes(type);
    return { verdict: isAllowed && !blockedTypes.includes(type), data: { type, allowedTypes, blockedTypes } };
  },
});
