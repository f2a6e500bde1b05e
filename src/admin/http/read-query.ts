import type { Type } from '@nestjs/common';
import { plainToInstance } from 'class-transformer';
import { type ValidationError, validateSync } from 'class-validator';
import type { AppError } from '../../common/errors/app-error.js';
import { parameterError, unknownParameter } from '../../common/errors/field-errors.js';
import { fieldsOf } from './dto-rules.js';
import { aliasesOf, AnyQuery, openFieldOf, type QueryDto } from './query.dto.js';

const UNKNOWN = 'whitelistValidation';

/**
 * The parameters of a request as their DTO describes them. Others are refused: a misspelled filter would return everything, and a misspelled
 * `dry_run` would save. Synchronous, so that a wrong query is reported before a wrong body.
 */
export function readQuery<T extends QueryDto>(sent: object, type: Type<T>): T {
  if ((type as Type<QueryDto>) === AnyQuery) return sent as T;
  const values = fieldValues(queryValues(sent, type), type);
  const query = plainToInstance(type, values);
  // The library that builds DTOs drops names of methods, such as "toString".
  const dropped = Object.keys(values).find((name) => !Object.hasOwn(query, name));
  if (dropped !== undefined) throw notAParameter(dropped, query);
  const [error] = validateSync(query, { whitelist: true, forbidNonWhitelisted: true });
  if (error) throw refusalOf(error, query);
  return query;
}

function refusalOf({ property, constraints = {} }: ValidationError, query: QueryDto): AppError {
  if (UNKNOWN in constraints) return notAParameter(property, query);
  return parameterError(property, Object.values(constraints)[0] ?? 'is invalid');
}

/**
 * The parameters under the names of the DTO, each with one text. Refuses a repeated one, which would be ambiguous, and one with a NUL,
 * which PostgreSQL texts cannot hold: https://www.postgresql.org/docs/current/datatype-character.html
 */
function queryValues(sent: object, type: Type<QueryDto>): Readonly<Record<string, string>> {
  const aliases = aliasesOf(type);
  const values = new Map<string, string>();
  for (const [spelling, value] of Object.entries(sent) as [string, unknown][]) {
    const name = aliases.get(spelling) ?? spelling;
    if (typeof value !== 'string' || values.has(name)) throw parameterError(name, 'may be sent only once');
    if (value.includes('\0')) throw parameterError(spelling, 'must not contain a NUL character');
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

/** The values of the fields. The parameters that no field has are those of the open field, if it accepts them. */
function fieldValues(
  values: Readonly<Record<string, string>>,
  type: Type<QueryDto>,
): Readonly<Record<string, unknown>> {
  const open = openFieldOf(type);
  if (!open) return values;
  const fields = fieldsOf(type.prototype as object).filter((name) => name !== open.field);
  const isOther = ([name]: [string, string]): boolean => !fields.includes(name) && open.accepts(name);
  const entries = Object.entries(values);
  const others = Object.fromEntries(entries.filter(isOther));
  return { ...Object.fromEntries(entries.filter((each) => !isOther(each))), [open.field]: others };
}

function notAParameter(name: string, query: QueryDto): AppError {
  const type = query.constructor as Type<QueryDto>;
  const open = openFieldOf(type);
  const known = [...fieldsOf(query), ...aliasesOf(type).keys()].filter((each) => each !== open?.field);
  if (open) return unknownParameter(name, [...open.suggested, ...known]);
  return unknownParameter(name, known, ` This operation accepts: ${known.sort().join(', ')}.`);
}
