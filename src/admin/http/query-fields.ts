import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { Transform } from 'class-transformer';
import { Allow } from 'class-validator';
import { normalizeEmail } from '../../common/http/normal-email.js';
import { IfGiven, rule } from '../../common/http/validators.js';
import { LARGEST_PAGE } from '../../common/http/page.js';
import { isUuid } from '../../common/ids/uuid-v7.js';
import { Alias } from './query.dto.js';

/**
 * Fields of query DTOs: rule, text and format of a parameter in one decorator. Messages continue `The parameter "status" `. A parameter
 * arrives as one text without NUL: the pipe refuses others.
 */

/** The text and the format of a parameter. */
interface ParameterOptions {
  readonly type: typeof String | typeof Boolean | 'integer';
  readonly description: string;
  readonly required?: boolean;
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: string[];
  readonly example?: string;
  readonly default?: string | number | boolean;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  /** Accepted for other clients, but not documented. */
  readonly isHidden?: boolean;
}

/** A parameter with a rule of its own. `read` returns undefined for a text that breaks it. */
export const QueryField = (
  { isHidden = false, ...options }: ParameterOptions,
  message: string,
  read: (text: string) => unknown,
): PropertyDecorator =>
  applyDecorators(
    ...(isHidden ? [] : [ApiProperty({ required: false, ...options })]),
    ...(options.required ? [] : [IfGiven()]),
    // A text that breaks the rule stays as it is, so that the rule sees it.
    Transform(({ value }: { readonly value: unknown }) =>
      typeof value === 'string' ? (read(value) ?? new Unreadable()) : value,
    ),
    rule('isReadable', message, (value) => value !== undefined && !(value instanceof Unreadable)),
  );

/** The value of a parameter whose text breaks its rule. */
class Unreadable {}

/** Any text. */
export const QueryText = (
  description: string,
  options: Omit<Partial<ParameterOptions>, 'type' | 'description'> = {},
): PropertyDecorator =>
  applyDecorators(ApiProperty({ required: false, ...options, type: String, description }), Allow());

/** One of a list of words. */
export const QueryChoice = (
  choices: readonly string[],
  description: string,
  message = `must be one of: ${choices.join(', ')}`,
  options: Pick<ParameterOptions, 'default'> = {},
): PropertyDecorator =>
  QueryField({ type: String, enum: [...choices], description, ...options }, message, (text) =>
    choices.find((choice) => choice === text),
  );

/** `true` or `false`; other words are refused, so that `yes` does not count as `false`. */
export const QueryFlag = (
  description: string,
  options: Pick<ParameterOptions, 'default' | 'isHidden'> = {},
): PropertyDecorator =>
  QueryField({ type: Boolean, description, ...options }, 'must be "true" or "false"', (text) =>
    text === 'true' ? true : text === 'false' ? false : undefined,
  );

interface QueryBounds extends Pick<ParameterOptions, 'isHidden'> {
  readonly minimum: number;
  readonly maximum: number;
  readonly default: number;
}

/** A whole number within bounds. */
export const QueryNumber = (description: string, bounds: QueryBounds): PropertyDecorator =>
  QueryField(
    { type: 'integer', description, ...bounds },
    `must be a whole number from ${bounds.minimum} to ${bounds.maximum}`,
    (text) => {
      const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
      return value >= bounds.minimum && value <= bounds.maximum ? value : undefined;
    },
  );

/** An id, in lower case. `message`: what it must be. */
export const QueryId = (description: string, message: string): PropertyDecorator =>
  QueryField({ type: String, format: 'uuid', description }, message, (text) =>
    isUuid(text) ? text.toLowerCase() : undefined,
  );

/** An email address, normalized. */
export const QueryEmail = (description: string): PropertyDecorator =>
  QueryField(
    { type: String, format: 'email', description },
    'must be an e-mail address',
    (text) => normalizeEmail(text) ?? undefined,
  );

/** Number of the page. */
export const QueryPageNumber = (options: Pick<ParameterOptions, 'isHidden'> = {}): PropertyDecorator =>
  applyDecorators(
    QueryNumber('Number of the page, counted from 0. Default: 0.', {
      minimum: 0,
      maximum: LARGEST_PAGE,
      default: 0,
      ...options,
    }),
    Alias('currentPage'),
  );

export const QueryPageSize = (options: Pick<ParameterOptions, 'isHidden'> = {}): PropertyDecorator =>
  applyDecorators(
    QueryNumber('Number of items on a page, 1 to 100. Default: 50.', {
      minimum: 1,
      maximum: 100,
      default: 50,
      ...options,
    }),
    Alias('pageSize'),
  );

/** Days that every month has: an exact pattern would be complex. */
const DAY = '(?:19|20)\\d\\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\\d|2[0-8])';
const TIME = '(?:[01]\\d|2[0-3]):[0-5]\\d(?::[0-5]\\d(?:\\.\\d{1,9})?)?(?:Z|[+-](?:0\\d|1[0-3]):[0-5]\\d)';

/** The format of a date, or a date and time with its zone. */
export const MOMENT_FORMAT = { pattern: `^${DAY}(?:T${TIME})?$`, example: '2030-01-28T12:00:00Z' };

/** The workspace to which a list is narrowed. */
export const QueryWorkspace = (): PropertyDecorator =>
  QueryText('Id or slug of a workspace. Default: every workspace within reach; for a workspace key its own.');

/** The caller's own organization. */
export const QueryOrganization = (): PropertyDecorator =>
  QueryText("Id of the organization. Optional, and must be the caller's own.");
