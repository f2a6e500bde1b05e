import { type EntityMetadata, type FindManyOptions, FindOperator, type ObjectLiteral } from 'typeorm';

/** A query over one table, as text with its parameters. */
export interface PlainQuery {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** What is known of a table once and for all, to write queries with. */
export interface PlainTable {
  readonly name: string;
  /** Quoted, by the name of the property. */
  readonly columns: ReadonlyMap<string, string>;
  /** What a query shows that does not say, under the names of the properties. */
  readonly shown: string;
  /** The column that tells rows apart; null where that takes several. */
  readonly key: string | null;
  /** Where rows that were taken away stay: what the queries leave out. */
  readonly unless: string;
}

/** The conditions of a query, and what they compare with. */
export interface PlainConditions {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Types whose values are used as `pg` reads them. */
const AS_READ: ReadonlySet<unknown> = new Set([
  'uuid',
  'text',
  'boolean',
  'timestamptz',
  'jsonb',
  'bytea',
  'integer',
  'smallint',
  'bigint',
  'double precision',
]);

const LOCKS: Readonly<Record<string, string>> = {
  pessimistic_write: ' FOR UPDATE',
  for_no_key_update: ' FOR NO KEY UPDATE',
  pessimistic_read: ' FOR SHARE',
};

type Comparison = (column: string, place: string) => string;

/** TypeORM's operators, by their names. */
const COMPARISONS: Readonly<Record<string, Comparison>> = {
  in: (column, place) => `${column} = ANY(${place})`,
  ilike: (column, place) => `${column} ILIKE ${place}`,
  lessThan: (column, place) => `${column} < ${place}`,
  lessThanOrEqual: (column, place) => `${column} <= ${place}`,
  moreThan: (column, place) => `${column} > ${place}`,
  moreThanOrEqual: (column, place) => `${column} >= ${place}`,
};

const tables = new WeakMap<EntityMetadata, PlainTable | null>();

/** Null for an entity that is more than a table of columns. */
export function plainTable(metadata: EntityMetadata): PlainTable | null {
  const known = tables.get(metadata);
  if (known !== undefined) return known;
  const table = readTable(metadata);
  tables.set(metadata, table);
  return table;
}

function readTable(metadata: EntityMetadata): PlainTable | null {
  const { columns, primaryColumns, relations, embeddeds, tablePath, deleteDateColumn } = metadata;
  const isMore = columns.some(({ type, transformer }) => !AS_READ.has(type) || transformer !== undefined);
  if (isMore || relations.length > 0 || embeddeds.length > 0) return null;
  const quoted = columns.map(
    ({ propertyName, databaseName }) => [propertyName, `"${databaseName}"`] as const,
  );
  const hidden = new Set(columns.filter(({ isSelect }) => !isSelect).map(({ propertyName }) => propertyName));
  const byProperty = new Map(quoted);
  return {
    name: `"${tablePath}"`,
    columns: byProperty,
    shown: shownOf(
      byProperty,
      quoted.map(([name]) => name).filter((name) => !hidden.has(name)),
    ),
    key: primaryColumns.length === 1 ? `"${primaryColumns[0]?.databaseName ?? ''}"` : null,
    unless: deleteDateColumn ? ` AND "${deleteDateColumn.databaseName}" IS NULL` : '',
  };
}

const shownOf = (columns: PlainTable['columns'], names: readonly string[]): string =>
  names.map((name) => `${columns.get(name) ?? ''} AS "${name}"`).join(', ');

/** Null for conditions that say more than what columns of the table are compared with. */
export function plainConditions(table: PlainTable, where: unknown): PlainConditions | null {
  if (typeof where !== 'object' || where === null || Array.isArray(where)) return null;
  const values: unknown[] = [];
  const texts: string[] = [];
  for (const [name, wanted] of Object.entries(where)) {
    const column = table.columns.get(name);
    const text = column === undefined ? null : comparison(column, wanted, values);
    if (text === null) return null;
    texts.push(text);
  }
  return texts.length === 0 ? null : { text: texts.join(' AND ') + table.unless, values };
}

function comparison(column: string, wanted: unknown, values: unknown[]): string | null {
  if (wanted instanceof FindOperator) return operation(column, wanted, values);
  if (!['string', 'number', 'boolean'].includes(typeof wanted)) return null;
  values.push(wanted);
  return `${column} = $${values.length}`;
}

function operation(
  column: string,
  { type, child, value }: FindOperator<unknown>,
  values: unknown[],
): string | null {
  if (type === 'isNull') return `${column} IS NULL`;
  if (type === 'not' && child?.type === 'isNull') return `${column} IS NOT NULL`;
  if (type === 'between' && Array.isArray(value))
    return `${column} BETWEEN $${values.push(value[0])} AND $${values.push(value[1])}`;
  const compare = child ? undefined : COMPARISONS[type];
  if (!compare) return null;
  values.push(value);
  return compare(column, `$${values.length}`);
}

const UNDERSTOOD: ReadonlySet<string> = new Set(['where', 'order', 'skip', 'take', 'lock', 'select']);

/** Null for a find that asks for more than rows of the table. */
export function plainFind<T extends ObjectLiteral>(
  table: PlainTable,
  options: FindManyOptions<T>,
): PlainQuery | null {
  if (Object.keys(options).some((name) => !UNDERSTOOD.has(name))) return null;
  const conditions = plainConditions(table, options.where);
  const shown = shownColumns(table, options.select);
  const order = ordered(table, options.order);
  const lock = lockOf(options.lock);
  if (!conditions || shown === null || order === null || lock === undefined) return null;
  const page = { ...options, order, isLocked: lock !== '' };
  const { text, values } = rowsOf(table, conditions, page);
  return { text: `SELECT ${shown} FROM ${table.name} ${text}${lock}`, values };
}

interface PageOfRows {
  readonly order: string;
  readonly skip?: number | undefined;
  readonly take?: number | undefined;
  readonly isLocked: boolean;
}

/**
 * A page that is not the first is looked for by the key alone, which an index can answer: else every row before it would be
 * read, to be thrown away.
 */
function rowsOf(
  { name, key }: PlainTable,
  conditions: PlainConditions,
  { order, skip = 0, take, isLocked }: PageOfRows,
): PlainQuery {
  const values = [...conditions.values];
  const limit = take === undefined ? '' : ` LIMIT $${values.push(take)}`;
  if (skip === 0) return { text: `WHERE ${conditions.text}${order}${limit}`, values };
  const which = `WHERE ${conditions.text}${order}${limit} OFFSET $${values.push(skip)}`;
  if (key === null || isLocked) return { text: which, values };
  return { text: `WHERE ${key} = ANY (ARRAY(SELECT ${key} FROM ${name} ${which}))${order}`, values };
}

/** Undefined for a lock that says more than how. */
function lockOf(lock: FindManyOptions['lock']): string | undefined {
  if (!lock) return '';
  return Object.keys(lock).length === 1 ? LOCKS[lock.mode] : undefined;
}

function shownColumns({ columns, shown }: PlainTable, select: unknown): string | null {
  if (select === undefined) return shown;
  const wanted = Object.entries(select as Record<string, unknown>);
  if (!wanted.every(([name, isWanted]) => isWanted === true && columns.has(name))) return null;
  return shownOf(
    columns,
    wanted.map(([name]) => name),
  );
}

function ordered({ columns }: PlainTable, order: unknown): string | null {
  if (order === undefined) return '';
  const wanted = Object.entries(order as Record<string, unknown>);
  const texts = wanted.map(([name, direction]) =>
    columns.has(name) && (direction === 'ASC' || direction === 'DESC')
      ? `${columns.get(name) ?? ''} ${direction}`
      : null,
  );
  return texts.includes(null) ? null : ` ORDER BY ${texts.join(', ')}`;
}
