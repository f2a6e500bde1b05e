import { REQUESTS } from './request-table.js';
import { ROLLUP_TABLES, ROLLUP_VIEWS } from './rollup-tables.js';
import type { Table, View } from './table.js';

/** All tables in their current form. Changes to existing tables are listed in changes.ts as well. */
export const TABLES: readonly Table[] = [REQUESTS, ...ROLLUP_TABLES];

export const VIEWS: readonly View[] = ROLLUP_VIEWS;
