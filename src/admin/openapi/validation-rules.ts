import { POLICY_KEYS } from '../../common/limits/rules.js';
import { LARGEST_AMOUNT } from '../dto-fields/limit.dto.js';
import {
  LONGEST_METADATA,
  LONGEST_NAME,
  LONGEST_NOTE,
  MOST_METADATA,
  SLUG,
  UUID_OR_SLUG,
} from '../../common/http/validators.js';

/** A part of a schema: https://spec.openapis.org/oas/v3.0.3#schema-object */
export type Fragment = Readonly<Record<string, unknown>>;

type FragmentOf = (constraints: readonly unknown[]) => Fragment;

const text = (minLength: number, maxLength: number): FragmentOf => {
  return () => ({ minLength, maxLength });
};

/**
 * The JSON Schema of each DTO validation rule, by rule name. Rules that are missing here cannot be expressed; requests that break them are
 * refused nevertheless.
 */
export const SCHEMA_OF_RULE: Readonly<Record<string, FragmentOf>> = {
  arrayMaxSize: ([maxItems]) => ({ maxItems }),
  arrayMinSize: ([minItems]) => ({ minItems }),
  arrayUnique: () => ({ uniqueItems: true }),
  equals: ([value]) => ({ enum: [value] }),
  isAmount: () => ({ minimum: 0, exclusiveMinimum: true, maximum: LARGEST_AMOUNT }),
  isEmailAddress: () => ({ format: 'email' }),
  isFutureDateTime: () => ({ format: 'date-time' }),
  isIdOrSlug: () => ({ pattern: UUID_OR_SLUG.source }),
  isIn: ([values]) => ({ enum: values }),
  isInt: () => ({ type: 'integer' }),
  isLength: ([minLength, maxLength]) => ({ minLength, maxLength }),
  isMetadata: () => ({
    maxProperties: MOST_METADATA,
    additionalProperties: { type: 'string', maxLength: LONGEST_METADATA },
  }),
  isName: () => ({ minLength: 1, maxLength: LONGEST_NAME, pattern: '\\S' }),
  isPolicyKey: () => ({ pattern: `^(?:${POLICY_KEYS.join('|')}|metadata\\.[\\w.-]{1,128})$` }),
  isNote: text(0, LONGEST_NOTE),
  isReason: text(1, LONGEST_NOTE),
  isSlug: () => ({ pattern: SLUG.source }),
  isTraceId: text(1, 256),
  isUuid: () => ({ format: 'uuid' }),
  // Unicode properties are not supported by all readers of a document.
  matches: ([pattern]) => ({
    pattern: (pattern as RegExp).source.includes('\\p{') ? undefined : (pattern as RegExp).source,
  }),
  max: ([maximum]) => ({ maximum }),
  maxLength: ([maxLength]) => ({ maxLength }),
  min: ([minimum]) => ({ minimum }),
};
