import type { Type } from '@nestjs/common';
import { Allow } from 'class-validator';

/**
 * Base class of the query parameters of an operation. Each field is a parameter with its rule and its text; others are refused. The handler
 * takes it as `@Query() query: ListKeysQuery`.
 */
export class QueryDto {}

/** For a handler whose parameters another party chooses. They are neither checked nor documented. */
export class AnyQuery extends QueryDto {}

export const isQueryDto = (type: unknown): type is Type<QueryDto> =>
  typeof type === 'function' && type.prototype instanceof QueryDto;

const ALIASES = 'gatehouse:query-aliases';

type AliasTable = ReadonlyMap<string, string>;

/** Another client's spelling of a parameter. It is accepted, but not documented. */
export const Alias =
  (alias: string): PropertyDecorator =>
  (target, name) => {
    Reflect.defineMetadata(ALIASES, new Map([...aliasesIn(target), [alias, String(name)]]), target);
  };

const aliasesIn = (prototype: object): AliasTable =>
  (Reflect.getMetadata(ALIASES, prototype) as AliasTable | undefined) ?? new Map<string, string>();

/** The names of parameters by their other spellings. */
export const aliasesOf = (type: Type<QueryDto>): AliasTable => aliasesIn(type.prototype as object);

const OPEN_NAMES = 'gatehouse:open-query-names';

/** Parameters whose names are not a fixed list, such as `metadata[team]`: which there are, and names to suggest for a misspelled one. */
export interface OpenNames {
  readonly accepts: (name: string) => boolean;
  readonly suggested: readonly string[];
}

interface OpenField extends OpenNames {
  readonly field: string;
}

/** A field that gets the parameters that are no other field, by name. They are read by the handler, and documented by their table. */
export const QueryOthers =
  (names: OpenNames): PropertyDecorator =>
  (target, field) => {
    Reflect.defineMetadata(OPEN_NAMES, { ...names, field: String(field) } satisfies OpenField, target);
    Allow()(target, String(field));
  };

export const openFieldOf = (type: Type<QueryDto>): OpenField | undefined =>
  Reflect.getMetadata(OPEN_NAMES, type.prototype as object) as OpenField | undefined;
