/** Anything that runs a statement of SQL and answers its rows: TypeORM's data source, or the plain pool of a gateway process. */
export interface Queryable {
  query<Row>(sql: string, parameters?: unknown[]): Promise<Row[]>;
}
