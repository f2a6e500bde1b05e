import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { AppError } from '../../common/errors/app-error.js';
import {
  fieldError,
  invalidField,
  missingField,
  fieldPath,
  type Steps,
  unknownField,
} from '../../common/errors/field-errors.js';
import { didYouMean } from '../../common/text/nearest-names.js';
import { fieldsOf, validationRulesOf } from './dto-rules.js';
import { isQueryDto } from './query.dto.js';
import { readQuery } from './read-query.js';

/** Validates bodies and queries against their DTO. Nothing is silently dropped: unknown fields are named and refused. */
export function createValidationPipe(): ValidationPipe {
  return new ObjectPipe({
    transform: true,
    transformOptions: { enableImplicitConversion: false },
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // The target provides the names of its fields, and the value shows which are missing. Neither is ever shown.
    validationError: { target: true, value: true },
    exceptionFactory: (errors) => new InvalidBody(errors),
  });
}

/**
 * A list instead of an object would be validated item by item, and passed on as a list. A handler that accepts lists declares its parameter
 * as `T[]`: for `readonly T[]` the compiler emits only "an object".
 */
class ObjectPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (isQueryDto(metadata.metatype)) return readQuery(value as object, metadata.metatype);
    if (metadata.type === 'body' && Array.isArray(value) && metadata.metatype !== Array)
      throw new AppError('invalid_request', { detail: 'The request body must be a JSON object.' });
    const dto: unknown = await super.transform(value, metadata).catch((thrown: unknown) => {
      throw thrown instanceof InvalidBody ? toAppError(thrown.errors, value) : thrown;
    });
    if (metadata.type === 'body') checkNamesOfMethods(value, dto, []);
    return dto;
  }
}

/** The findings of the library, until they are reported by their place in the body that was sent. */
class InvalidBody extends Error {
  constructor(readonly errors: readonly ValidationError[]) {
    super('The body is invalid.');
  }
}

/**
 * Even in free-form documents, the library that builds DTOs drops names of methods, such as "toString", before validation.
 * @see https://github.com/typestack/class-transformer/blob/develop/src/TransformOperationExecutor.ts
 */
function checkNamesOfMethods(sent: unknown, built: unknown, above: Steps): void {
  if (sent === built || !isNode(sent) || !isNode(built)) return;
  for (const [name, value] of Object.entries(sent)) {
    const steps = [...above, Array.isArray(sent) ? Number(name) : name];
    if (name in Object.prototype && !Object.hasOwn(built, name))
      throw invalidField(shortened(fieldPath(steps)), 'its name is that of a built-in method');
    checkNamesOfMethods(value, built[name], steps);
  }
}

const isNode = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const UNKNOWN_FIELD = 'whitelistValidation';
const LONGEST_NAME = 64;

/** Names the field and the rule, and never shows the value, which may be a secret. */
function toAppError(errors: readonly ValidationError[], sent: unknown): AppError {
  const [first] = errors;
  if (!first) return new AppError('invalid_request', { detail: 'The request body is invalid.' });
  const { path, error } = innermost(first, [first.property]);
  return refusalOf(shortened(fieldPath(asSent(path, sent))), error);
}

function innermost(
  error: ValidationError,
  path: readonly string[],
): { path: readonly string[]; error: ValidationError } {
  const [child] = error.children ?? [];
  return child ? innermost(child, [...path, child.property]) : { path, error };
}

const INDEX = /^\d+$/;

/** The steps in the body as sent: the index of a list is a number, and where one object stands for a list of one, there is no index. */
function asSent(path: readonly string[], sent: unknown): Steps {
  const steps: (string | number)[] = [];
  let node: unknown = sent;
  for (const step of path) {
    if (INDEX.test(step) && isNode(node) && !(step in node)) continue;
    steps.push(Array.isArray(node) ? Number(step) : step);
    node = isNode(node) ? node[step] : undefined;
  }
  return steps;
}

function refusalOf(place: string, error: ValidationError): AppError {
  const { property, target, constraints = {} } = error;
  const value: unknown = error.value;
  if (UNKNOWN_FIELD in constraints)
    return unknownField(place, didYouMean(property.slice(0, LONGEST_NAME), fieldsOf(target)));
  if (value === undefined && !(UNUSABLE in constraints)) return missingField(place);
  return value === '' ? fieldError(place, 'is empty') : invalidField(place, ruleOf(error));
}

function ruleOf({ property, value, target, constraints = {} }: ValidationError): string {
  const kind = Object.keys(KINDS).find((name) => name in constraints && !isOwn(constraints[name], property));
  const [first = 'it is invalid'] = Object.values(constraints);
  const subject = Array.isArray(value) ? 'each entry' : 'it';
  const ofStrings = kind === 'isArray' && hasStrings(target, property) ? ' of strings' : '';
  return kind === undefined ? withoutName(first, property) : `${subject} ${KINDS[kind]}${ofStrings}`;
}

/** Whether each entry of a list must be a string. */
const hasStrings = (target: object | undefined, property: string): boolean =>
  validationRulesOf(target).some(
    ({ propertyName, each, name }) => propertyName === property && each && name === 'isString',
  );

/** A wrong type is reported before its consequences. */
const KINDS: Readonly<Record<string, string>> = {
  isArray: 'must be a list',
  isObject: 'must be an object',
  isString: 'must be a string',
  isBoolean: 'must be true or false',
};
const UNUSABLE = 'hasNoEffectYet';

/** The library's messages begin with the property's name, which is already in the sentence. */
const withoutName = (message: string, property: string): string =>
  (message.startsWith(`${property} `) ? `it${message.slice(property.length)}` : message)
    .replace(`each value in ${property} `, 'each entry ')
    .replace('one of the following values:', 'one of');

/** Whether a DTO has words of its own for a rule. The library's begin with the name of the property, or with "each value in". */
const isOwn = (message: string | undefined, property: string): boolean =>
  message === undefined || !(message.startsWith(property) || message.startsWith('each value in'));

const shortened = (path: string): string =>
  path.length > LONGEST_NAME ? `${path.slice(0, LONGEST_NAME)}…` : path;
