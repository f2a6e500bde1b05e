import { findProvider as findListed } from '@pydantic/genai-prices';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { GenaiPriceBook } from '../../src/adapters/prices/genai-price-book.js';
import { Secret } from '../../src/common/settings/secret.js';
import { catalog } from '../../src/providers/catalog/index.js';
import { sandbox } from '../../src/providers/catalog/sandbox.js';
import { catalogPage } from '../../src/providers/catalog-page.js';
import { own } from '../../src/providers/dialects/untranslated.js';
import { ENDPOINT_IDS } from '../../src/providers/endpoint.js';
import { endpoints, findEndpointRow } from '../../src/providers/endpoints/index.js';
import { isPrice } from '../../src/providers/prices/price.js';
import type { AccountField, Provider } from '../../src/providers/provider.js';
import { findProvider, providers } from '../../src/providers/catalog/registry.js';
import { sandboxModels } from '../../src/providers/sandbox/models.js';
import { sandboxAnswer } from '../../src/providers/sandbox/sandbox.js';

const rows = catalog.flatMap((group) => group.rows);

const PLACEHOLDER = /\{([^{}]*)\}/g;
const placeholders = (text: string): readonly string[] =>
  [...text.matchAll(PLACEHOLDER)].map(([, name = '']) => name);
const fieldOf = ({ fields = [] }: Provider, name: string): AccountField | undefined =>
  fields.find((field) => field.name === name);
const filled = (row: Provider, text: string): string =>
  text.replace(PLACEHOLDER, (_, name: string) => fieldOf(row, name)?.example ?? '?');
const hostOf = (baseUrl: string): string => baseUrl.split('/')[2] ?? '';

/** What would turn a host into another one, or leave a path, if a field let it through. */
const HOSTILE = [
  '',
  '.',
  '..',
  'a/b',
  '../a',
  'a?b',
  'a#b',
  'a@b',
  'a:1',
  'a\\b',
  'a%2eb',
  'a b',
  'a\r\nb',
  'ä',
  'a\n',
];

describe('the catalogue', () => {
  it('gives every row an id of its own', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(providers.size).toBe(rows.length);
  });

  it('has a hundred providers that are called, and one that is not', () => {
    expect(rows.filter(({ inProcess }) => !inProcess).length).toBeGreaterThanOrEqual(100);
    expect(rows.filter(({ inProcess }) => inProcess).map(({ id }) => id)).toEqual(['sandbox']);
  });

  it('calls no address twice with the same kind of credentials', () => {
    const addresses = rows.flatMap(({ baseUrl, auth }) => (baseUrl ? [`${baseUrl} ${auth.id}`] : []));

    expect(new Set(addresses).size).toBe(addresses.length);
  });
});

describe.each(rows)('the row of $id', (row) => {
  it('is found by its id, which is lower case with dashes', () => {
    expect(findProvider(row.id)).toBe(row);
    expect(row.id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(row.name).toMatch(/^[^|[\]\r\n]+$/);
  });

  it('has a base URL to which a path can be appended, or none', () => {
    if (row.baseUrl === null) return;
    const baseUrl = filled(row, row.baseUrl);
    const url = new URL(baseUrl);

    expect(url.protocol).toBe('https:');
    expect(baseUrl.endsWith('/')).toBe(false);
    expect([url.username, url.password, url.port, url.search, url.hash]).toEqual(['', '', '', '', '']);
    expect(new URL(`${baseUrl}/chat/completions`).href).toBe(`${baseUrl}/chat/completions`);
  });

  it('fills its base URL and query with fields that always have a value', () => {
    const texts = [row.baseUrl ?? '', ...Object.values(row.query ?? {})];
    for (const name of texts.flatMap(placeholders)) {
      const field = fieldOf(row, name);

      expect(field, name).toBeDefined();
      expect(field?.isRequired === true || field?.default !== undefined, name).toBe(true);
    }
  });

  it('lets no value of a field change the host or climb out of the path', () => {
    const host = hostOf(row.baseUrl ?? '');
    for (const name of placeholders(row.baseUrl ?? '')) {
      const { pattern } = fieldOf(row, name) ?? { pattern: /(?:)/ };
      for (const value of HOSTILE) expect(pattern.test(value), `${name}: ${value}`).toBe(false);
      if (host.includes(`{${name}}`)) expect(pattern.test('a.evil.example'), name).toBe(false);
    }
  });

  it('describes its fields: whole-value patterns that their examples and defaults match', () => {
    const named = [
      ...(row.fields ?? []),
      ...(row.accountHeaders ?? []).map(({ field }) => ({ name: field })),
    ];
    expect(new Set(named.map(({ name }) => name)).size).toBe(named.length);
    for (const { name, title, pattern, example, default: fallback, isRequired } of row.fields ?? []) {
      expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
      expect(title).not.toBe('');
      expect([pattern.source.startsWith('^'), pattern.source.endsWith('$'), pattern.flags]).toEqual([
        true,
        true,
        '',
      ]);
      expect(example).toMatch(pattern);
      expect(isRequired && fallback !== undefined).toBe(false);
      if (fallback !== undefined) expect(fallback).toMatch(pattern);
    }
  });

  it('offers endpoints that are known, each once; a row without any has a dialect of its own', () => {
    for (const id of row.endpoints) expect(ENDPOINT_IDS).toContain(id);
    expect(new Set(row.endpoints).size).toBe(row.endpoints.length);
    if (row.endpoints.length === 0) expect(row.dialect.id).not.toBe('openai');
    if (row.dialect === own) expect(row.endpoints).toEqual([]);
  });

  it('authenticates with a lower-case header that carries the key, or with none', () => {
    const key = new Secret('canary');

    if (row.auth.id === 'none') expect(row.auth.header).toBeNull();
    else expect(row.auth.header).toMatch(/^[a-z0-9-]+$/);
    expect(row.auth.value(key).includes('canary')).toBe(row.auth.header !== null);
  });

  it('names account headers in lower case, each once, and none that carries a key', () => {
    const named = (row.accountHeaders ?? []).flatMap(({ field, header }) => [field, header]);

    for (const name of named) expect(name).toMatch(/^[a-z0-9-]+$/);
    expect(new Set(row.accountHeaders?.map(({ field }) => field)).size).toBe(row.accountHeaders?.length ?? 0);
    expect(named).not.toContain(row.auth.header);
  });

  it('says which page it was checked against', () => {
    expect(new URL(row.source).protocol).toBe('https:');
    expect(row.source).toMatch(/^[!-~]+$/);
    expect(row.source).not.toMatch(/[()|]/);
  });

  it('has a name in the price data, or says that it has none', () => {
    if (row.pricesId === null) return expect(findListed({ providerId: row.id })).toBeUndefined();
    const listed = findListed({ providerId: row.pricesId ?? row.id });

    expect(listed?.id).toBe(row.pricesId ?? row.id);
  });

  it('states only prices that can be charged exactly', () => {
    for (const price of row.prices?.values() ?? []) expect(isPrice(price)).toBe(true);
  });
});

describe('the endpoints', () => {
  it.each(endpoints)('finds $id by its methods and paths', (endpoint) => {
    for (const { method, path } of endpoint.operations) {
      expect(findEndpointRow(method, path.replace(PLACEHOLDER, 'abc-1'))?.id).toBe(endpoint.id);
      expect(path).toMatch(/^\/[^?#]*[^/?#]$/);
    }
  });
});

describe('the sandbox', () => {
  const book = new GenaiPriceBook();

  it.each(sandboxModels)('has a price for $id, and a response', ({ id, error }) => {
    const body = Buffer.from(JSON.stringify({ model: id, messages: [{ role: 'user', content: 'hi' }] }));

    expect(book.find('sandbox', id)).not.toBeNull();
    expect(sandboxAnswer({ method: 'POST', path: '/chat/completions', body }).status).toBe(
      error?.status ?? 200,
    );
  });

  it('serves every endpoint that its row offers', () => {
    const offered = endpoints.filter(({ id }) => sandbox.endpoints.includes(id));
    for (const { method, path } of offered.flatMap(({ operations }) => operations)) {
      if (method !== 'POST') continue;
      const { status, frames } = sandboxAnswer({ method, path, body: Buffer.from('{}') });

      expect([status, frames[0]?.bytes.toString()]).toEqual([400, expect.stringContaining('model')]);
    }
  });
});

describe('docs/providers.md', () => {
  it('is what the catalogue says (npm run build && npm run generate writes it)', async () => {
    expect(await readFile(new URL('../../docs/providers.md', import.meta.url), 'utf8')).toBe(catalogPage());
  });
});
