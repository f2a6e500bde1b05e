import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { AppError } from '../errors/app-error.js';
import { didYouMean } from '../text/nearest-names.js';

/** Checks bodies against their DTO. Nothing is converted and nothing left out in silence: an unknown field is named and refused. */
export function createValidationPipe(): ValidationPipe {
  return new ObjectPipe({
    transform: true,
    transformOptions: { enableImplicitConversion: false },
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // The target has the names of its fields, and the value shows what is missing. Neither is ever shown.
    validationError: { target: true, value: true },
    exceptionFactory: toAppError,
  });
}

/**
 * A list in the place of an object would be checked entry by entry, and handed on as a list. A handler that takes one says so by
 * the type of its parameter, which must be `T[]`: of `readonly T[]` the compiler of the build keeps no more than "an object".
 */
class ObjectPipe extends ValidationPipe {
  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (metadata.type === 'body' && Array.isArray(value) && metadata.metatype !== Array)
      throw new AppError('invalid_request', { detail: 'The request body must be a JSON object.' });
    const dto: unknown = await super.transform(value, metadata);
    if (metadata.type === 'body') checkNamesOfMethods(value, dto, '');
    return dto;
  }
}

/**
 * The library that builds DTOs leaves out, before anything is checked, what has the name of a method, such as "toString", in
 * free documents too.
 * @see https://github.com/typestack/class-transformer/blob/develop/src/TransformOperationExecutor.ts
 */
function checkNamesOfMethods(sent: unknown, built: unknown, path: string): void {
  if (sent === built || !isNode(sent) || !isNode(built)) return;
  for (const [name, value] of Object.entries(sent)) {
    const place = Array.isArray(sent) ? path : path === '' ? name : `${path}.${name}`;
    if (name in Object.prototype && !Object.hasOwn(built, name))
      throw new AppError('invalid_request', { detail: nameOfAMethod(place) });
    checkNamesOfMethods(value, built[name], place);
  }
}

const isNode = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const UNKNOWN_FIELD = 'whitelistValidation';
const LONGEST_NAME = 64;

/** Names the field and the rule, and never shows the value, which may be a secret. */
function toAppError(errors: readonly ValidationError[]): AppError {
  const [first] = errors;
  if (!first) return new AppError('invalid_request', { detail: 'The request body is invalid.' });
  const { path, error } = innermost(first, first.property);
  return new AppError('invalid_request', { detail: sentence(path, error) });
}

function innermost(error: ValidationError, path: string): { path: string; error: ValidationError } {
  const [child] = error.children ?? [];
  return child ? innermost(child, `${path}.${child.property}`) : { path, error };
}

function sentence(path: string, { property, value, target, constraints = {} }: ValidationError): string {
  if (UNKNOWN_FIELD in constraints)
    return `There is no field "${shortened(path)}" here${didYouMean(property.slice(0, LONGEST_NAME), fieldsOf(target))}.`;
  if (value === undefined && !(UNUSABLE in constraints)) return `The field "${shortened(path)}" is missing.`;
  const kind = Object.keys(KINDS).find((name) => name in constraints && !isOwn(constraints[name], property));
  const [first = 'it is invalid'] = Object.values(constraints);
  const subject = Array.isArray(value) ? 'each entry' : 'it';
  const ofStrings = kind === 'isArray' && hasStrings(target, property) ? ' of strings' : '';
  const rule = kind === undefined ? withoutName(first, property) : `${subject} ${KINDS[kind]}${ofStrings}`;
  return `The field "${shortened(path)}" is invalid: ${rule}.`;
}

/** The fields that a DTO has rules for, which are all that it knows. */
const fieldsOf = (target: object | undefined): readonly string[] => [
  ...new Set(rulesOf(target).map(({ propertyName }) => propertyName)),
];

/** Whether each entry of a list must be a string. */
const hasStrings = (target: object | undefined, property: string): boolean =>
  rulesOf(target).some(
    ({ propertyName, each, name }) => propertyName === property && each && name === 'isString',
  );

const rulesOf = (target: object | undefined) =>
  target ? getMetadataStorage().getTargetValidationMetadatas(target.constructor, '', false, false) : [];

/** What is wrong with a value of another kind comes before what else follows from that. */
const KINDS: Readonly<Record<string, string>> = {
  isArray: 'must be a list',
  isObject: 'must be an object',
  isString: 'must be a string',
  isBoolean: 'must be true or false',
};
const UNUSABLE = 'hasNoEffectYet';

/** The library's messages begin with the name of the property, which the sentence has already. */
const withoutName = (message: string, property: string): string =>
  message.startsWith(`${property} `) ? `it${message.slice(property.length)}` : message;

/** Whether a DTO has words of its own for a rule. The library's begin with the name of the property, or with "each value in". */
const isOwn = (message: string | undefined, property: string): boolean =>
  message === undefined || !(message.startsWith(property) || message.startsWith('each value in'));

const nameOfAMethod = (path: string): string =>
  `The field "${shortened(path)}" is invalid: its name is that of a built-in method.`;

const shortened = (path: string): string =>
  path.length > LONGEST_NAME ? `${path.slice(0, LONGEST_NAME)}…` : path;
