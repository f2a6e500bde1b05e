import { type ArgumentMetadata, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError } from 'class-validator';
import { AppError } from '../common/errors/app-error.js';
import { didYouMean } from '../common/text/nearest-names.js';

/** Validates bodies against their DTO. Nothing is converted or silently dropped: unknown fields are named and refused. */
export function createValidationPipe(): ValidationPipe {
  return new ObjectPipe({
    transform: true,
    transformOptions: { enableImplicitConversion: false },
    whitelist: true,
    forbidNonWhitelisted: true,
    forbidUnknownValues: true,
    // The target provides the names of its fields, and the value shows which are missing. Neither is ever shown.
    validationError: { target: true, value: true },
    exceptionFactory: toAppError,
  });
}

/**
 * A list instead of an object would be validated item by item, and passed on as a list. A handler that accepts lists declares its parameter
 * as `T[]`: for `readonly T[]` the compiler emits only "an object".
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
 * Even in free-form documents, the library that builds DTOs drops names of methods, such as "toString", before validation.
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

/** The fields with rules in a DTO, which are all of its fields. */
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
  message.startsWith(`${property} `) ? `it${message.slice(property.length)}` : message;

/** Whether a DTO has words of its own for a rule. The library's begin with the name of the property, or with "each value in". */
const isOwn = (message: string | undefined, property: string): boolean =>
  message === undefined || !(message.startsWith(property) || message.startsWith('each value in'));

const nameOfAMethod = (path: string): string =>
  `The field "${shortened(path)}" is invalid: its name is that of a built-in method.`;

const shortened = (path: string): string =>
  path.length > LONGEST_NAME ? `${path.slice(0, LONGEST_NAME)}…` : path;
