import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ENDPOINT_IDS } from './endpoint.js';
import { endpoints } from './endpoints/index.js';
import { chargingTable, limitEffectsTable, endpointsPage, markOf } from './endpoints-page.js';
import { findProvider, providers } from './catalog/registry.js';

const lines = endpointsPage().split('\n');
const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim());
const matrix = lines.slice(lines.indexOf('## Providers')).filter((line) => line.startsWith('| `'));

describe('the page of endpoints', () => {
  it('lists every request of every endpoint', () => {
    for (const { operations } of endpoints)
      for (const { method, path } of operations)
        expect(endpointsPage()).toContain(`\`${method} /v1${path}\``);
  });

  it('lists them in the order of their ids, what is read before what is stored', () => {
    const rows = lines.slice(0, lines.indexOf('## Providers')).filter((line) => line.startsWith('| `'));
    const ids = rows.map((row) => cellsOf(row)[0]);

    expect([...new Set(ids)]).toEqual(ENDPOINT_IDS.map((id) => `\`${id}\``));
    expect(ids).toHaveLength(endpoints.length);
    expect(rows.filter((row) => row.startsWith('| `responses`')).map((row) => cellsOf(row)[3])).toEqual([
      'json',
      'opaque',
    ]);
  });

  it('has a row for every provider, and a cell for every endpoint', () => {
    expect(matrix).toHaveLength(providers.size);
    for (const row of matrix) expect(cellsOf(row)).toHaveLength(ENDPOINT_IDS.length + 1);
  });

  it('marks what a provider has itself', () => {
    for (const { id, endpoints: own } of providers.values()) {
      const row = cellsOf(matrix.find((line) => line.startsWith(`| \`${id}\` |`)) ?? '');
      for (const endpoint of own) expect(row[ENDPOINT_IDS.indexOf(endpoint) + 1]).toBe('●');
    }
  });

  it('leaves blank what cannot be requested', () => {
    expect(markOf(findProvider('sandbox'), 'vector-stores')).toBe('');
  });
});

describe('the tables of docs/limits.md', () => {
  it('are those that the rows make', async () => {
    const page = await readFile(new URL('../../docs/limits.md', import.meta.url), 'utf8');

    expect(page).toContain(`\n${chargingTable()}\n`);
    expect(page).toContain(`\n${limitEffectsTable()}\n`);
  });
});
