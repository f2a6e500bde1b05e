/** Anything that runs an SQL statement and returns its rows: TypeORM's data source, or the plain pool of a gateway process. */
export interface Queryable {
  query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}
