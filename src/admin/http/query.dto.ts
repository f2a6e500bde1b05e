import type { Type } from '@nestjs/common';

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
