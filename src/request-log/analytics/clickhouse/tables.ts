import { REQUESTS } from './request-table.js';
import { ROLLUP_TABLES, ROLLUP_VIEWS } from './rollup-tables.js';
import type { Table, View } from './table.js';

/** All tables in their present form. What a release changes of tables that exist is listed in changes.ts as well. */
export const TABLES: readonly Table[] = [REQUESTS, ...ROLLUP_TABLES];

export const VIEWS: readonly View[] = ROLLUP_VIEWS;
