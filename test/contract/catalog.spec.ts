import { findProvider as findListed } from '@pydantic/genai-prices';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { GenaiPriceBook } from '../../src/adapters/genai-price-book.js';
import { Secret } from '../../src/common/crypto/secret.js';
import { openAiCompatible } from '../../src/providers/catalog/openai-compatible.js';
import { sandbox } from '../../src/providers/catalog/sandbox.js';
import { catalogPage } from '../../src/providers/catalog-page.js';
import { endpoints, findEndpointRow } from '../../src/providers/endpoints/index.js';
import { isPrice } from '../../src/providers/prices/price.js';
import { findProvider, providers } from '../../src/providers/registry.js';
import { sandboxModels } from '../../src/providers/sandbox/models.js';
import { sandboxAnswer } from '../../src/providers/sandbox/sandbox.js';

const rows = [...openAiCompatible, sandbox];

describe('the catalogue', () => {
  it('gives every row an id of its own', () => {
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(providers.size).toBe(rows.length);
  });

  it('has OpenAI and nine more providers that are called, and one that is not', () => {
    expect(rows.filter(({ inProcess }) => !inProcess).length).toBeGreaterThanOrEqual(10);
    expect(rows.filter(({ inProcess }) => inProcess).map(({ id }) => id)).toEqual(['sandbox']);
  });
});

describe.each(rows)('the row of $id', (row) => {
  it('is found by its id, which is lower case with dashes', () => {
    expect(findProvider(row.id)).toBe(row);
    expect(row.id).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(row.name).not.toBe('');
  });

  it('has a base URL to which a path can be appended', () => {
    const url = new URL(row.baseUrl);

    expect(url.protocol).toBe('https:');
    expect(row.baseUrl.endsWith('/')).toBe(false);
    expect([url.username, url.password, url.port, url.search, url.hash]).toEqual(['', '', '', '', '']);
    expect(new URL(`${row.baseUrl}/chat/completions`).href).toBe(`${row.baseUrl}/chat/completions`);
  });

  it('offers at least one endpoint, each of them known', () => {
    expect(row.endpoints.length).toBeGreaterThan(0);
    for (const id of row.endpoints) expect(endpoints.map((endpoint) => endpoint.id)).toContain(id);
    for (const path of Object.values(row.dialect.paths ?? {})) expect(path).toMatch(/^\/[^/]/);
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
  it.each(endpoints)('finds $id by its method and path', (endpoint) => {
    expect(findEndpointRow(endpoint.method, endpoint.path)).toBe(endpoint);
    expect(endpoint.path).toMatch(/^\/[^?#]*[^/?#]$/);
  });
});

describe('the sandbox', () => {
  const book = new GenaiPriceBook();

  it.each(sandboxModels)('has a price for $id, and an answer', ({ id, error }) => {
    const body = Buffer.from(JSON.stringify({ model: id, messages: [{ role: 'user', content: 'hi' }] }));

    expect(book.find('sandbox', id)).not.toBeNull();
    expect(sandboxAnswer({ method: 'POST', path: '/chat/completions', body }).status).toBe(
      error?.status ?? 200,
    );
  });

  it('answers every endpoint that its row offers', () => {
    for (const { method, path } of endpoints.filter(({ id }) => sandbox.endpoints.includes(id))) {
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
