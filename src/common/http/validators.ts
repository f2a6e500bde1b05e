import { applyDecorators } from '@nestjs/common';
import { ApiHideProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  IsOptional,
  registerDecorator,
  ValidateIf,
  ValidateNested,
  type ValidationOptions,
} from 'class-validator';

/** Optional, but not null: null would need a meaning. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_, value) => value !== undefined);

/** Optional or null; null removes the current value. */
export const OrNull = (): PropertyDecorator => IsOptional();

export const LONGEST_NAME = 120;
/** Characters that break lines or disguise a name: controls, lone surrogates, and text direction marks. */
const MISLEADING = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]/u;
/** https://www.unicode.org/reports/tr44/#Default_Ignorable_Code_Point; U+2800 is a Braille pattern without dots. */
const INVISIBLE = /[\p{White_Space}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A display name: 1 to 120 characters, at least one of them visible, without line or text direction controls. */
export const IsName = (): PropertyDecorator =>
  rule(
    'isName',
    `it must be a string of 1 to ${LONGEST_NAME} characters, at least one of them visible, without control or text direction characters`,
    (value) => isText(value, LONGEST_NAME) && value.replace(INVISIBLE, '') !== '' && !MISLEADING.test(value),
    { minLength: 1, maxLength: LONGEST_NAME, pattern: '\\S' },
  );

export const LONGEST_NOTE = 2000;

/** A longer text, line breaks allowed, or empty. */
export const IsNote = (): PropertyDecorator =>
  rule(
    'isNote',
    `it must be a string of at most ${LONGEST_NOTE} characters`,
    (value) => value === '' || isText(value, LONGEST_NOTE),
    { minLength: 0, maxLength: LONGEST_NOTE },
  );

/** The same, but not empty. */
export const IsReason = (): PropertyDecorator =>
  rule(
    'isReason',
    `it must be a string of 1 to ${LONGEST_NOTE} characters`,
    (value) => isText(value, LONGEST_NOTE),
    { minLength: 1, maxLength: LONGEST_NOTE },
  );

/** https://www.rfc-editor.org/rfc/rfc3339#section-5.6, with `T` and with the seconds optional. */
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/;

/** A future time with its time zone. */
export const IsFutureDateTime = (): PropertyDecorator =>
  rule(
    'isFutureDateTime',
    'it must be a date and time in the future, such as 2030-01-31T12:00:00Z',
    (value) =>
      typeof value === 'string' &&
      DATE_TIME.test(value) &&
      isDay(value.slice(0, DAY_CHARACTERS)) &&
      Date.parse(value) > Date.now(),
    { format: 'date-time' },
  );

export const DAY_CHARACTERS = '2030-01-31'.length;

/** Whether the day exists, such as 2030-01-31. `Date.parse` reads 31 February as 3 March. */
export function isDay(day: string): boolean {
  const midnight = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
}

export const UUID_OR_SLUG = /^[0-9A-Za-z][0-9A-Za-z-]{0,63}$/;

/** The id or slug of a resource. */
export const IsIdOrSlug = (): PropertyDecorator =>
  rule(
    'isIdOrSlug',
    'it must be an id or a slug',
    (value) => typeof value === 'string' && UUID_OR_SLUG.test(value),
    { pattern: UUID_OR_SLUG.source },
  );

/** A class of objects in the fields of other DTOs. */
type NestedClass = () => new () => object;

const NESTED_CLASSES = new Set<NestedClass>();

/** Records a class of objects in fields or lists. The decorators below do so themselves. */
export const recordNested = (type: NestedClass): void => void NESTED_CLASSES.add(type);

/** The classes that were recorded. */
export const nestedClasses = (): (new () => object)[] => [...NESTED_CLASSES].map((type) => type());

/** An object with the rules of a class. */
export const Nested = (type: NestedClass): PropertyDecorator => {
  recordNested(type);
  return applyDecorators(Type(type), ValidateNested());
};

/** A list of objects, each with the rules of a class. */
export const NestedList = (type: NestedClass): PropertyDecorator =>
  applyDecorators(Type(type), ValidateEach(type));

/** The same for items that are instances already. `ValidateNested` alone accepts nested lists, unvalidated if empty. */
export const ValidateEach = (type: NestedClass, message?: string): PropertyDecorator => {
  recordNested(type);
  return applyDecorators(
    ValidateNested({ each: true, ...(message === undefined ? {} : { message }) }),
    rule(
      'validateEach',
      message ?? 'it must be a list of objects',
      (value) => !Array.isArray(value) || !value.some(Array.isArray),
    ),
  );
};

/** Normalizes an id for comparison. Other values pass unchanged, for their own rule to refuse. */
export const withoutCase = (id: unknown): unknown => (typeof id === 'string' ? id.toLowerCase() : id);

export const SLUG = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export const isSlug = (text: string): boolean => SLUG.test(text);

/** The short name of a resource in URLs and headers. */
export const IsSlug = (): PropertyDecorator =>
  rule(
    'isSlug',
    'it must be 1 to 64 lowercase letters, digits and hyphens, and neither begin nor end with a hyphen',
    (value) => typeof value === 'string' && isSlug(value),
    { pattern: SLUG.source },
  );

/**
 * A field of the compatible API that has no effect yet. Accepting it silently would promise a limit that is not enforced, so it is refused
 * with the reason; null, which requests nothing, is accepted.
 */
export const HasNoEffectYet = (reason: string): PropertyDecorator =>
  applyDecorators(
    IsOptional(),
    ApiHideProperty(),
    rule('hasNoEffectYet', reason, () => false),
  );

export const MOST_METADATA = 64;
export const LONGEST_METADATA = 128;

/** Short texts by name, like the metadata of requests. */
export const IsMetadata = (): PropertyDecorator =>
  rule(
    'isMetadata',
    `it must be an object of at most ${MOST_METADATA} strings of at most ${LONGEST_METADATA} characters`,
    (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
      const entries = Object.entries(value);
      return (
        entries.length <= MOST_METADATA &&
        entries.every(
          ([name, text]) =>
            fits(name, LONGEST_METADATA) && typeof text === 'string' && fits(text, LONGEST_METADATA),
        )
      );
    },
    { maxProperties: MOST_METADATA, additionalProperties: { type: 'string', maxLength: LONGEST_METADATA } },
  );

/** Counts characters as JSON Schema and PostgreSQL do: a surrogate pair is one. */
const fits = (text: string, longest: number): boolean =>
  text.length <= longest || Array.from(text).length <= longest;

function isText(value: unknown, longest: number): value is string {
  return typeof value === 'string' && value.length > 0 && fits(value, longest);
}

/** What a rule adds to the JSON Schema of its field: https://spec.openapis.org/oas/v3.0.3#schema-object */
export type RuleSchema = Readonly<Record<string, unknown>>;

/** `message` continues "The field ... is invalid: ". `schema`: the rule in the OpenAPI document, as far as it can be expressed there. */
export function rule(
  name: string,
  message: string,
  validate: (value: unknown) => boolean,
  schema?: RuleSchema,
): PropertyDecorator {
  const options: ValidationOptions = { message, context: { schema } };
  return (target, propertyKey) =>
    registerDecorator({
      name,
      target: target.constructor,
      propertyName: String(propertyKey),
      options,
      validator: { validate },
    });
}
