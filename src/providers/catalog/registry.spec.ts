import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { findEndpointRow } from '../endpoints/index.js';
import { findProvider, providers } from './registry.js';

const refusalOf = (id: string): AppError => {
  try {
    findProvider(id);
  } catch (error) {
    if (error instanceof AppError) return error;
  }
  throw new Error(`${id} was found`);
};

describe('findProvider', () => {
  it('finds a provider by exactly its id', () => {
    expect(findProvider('openai').baseUrl).toBe('https://api.openai.com/v1');
  });

  it('finds every provider of the catalogue', () => {
    for (const [id, row] of providers) expect(findProvider(id)).toBe(row);
  });

  it.each(['OpenAI', '@openai', ' openai', '', '__proto__', 'constructor'])(
    'refuses "%s" and names the request that lists the known ones',
    (id) => {
      const refusal = refusalOf(id);

      expect(refusal.code).toBe('provider_unknown');
      expect(refusal.message).toContain('GET /v1/provider-catalog lists all ');
    },
  );

  it.each([
    ['OpenAI', 'openai'],
    ['opnai', 'openai'],
    ['azure', 'azure-openai'],
    ['mistral', 'mistral-ai'],
    ['together_ai', 'together-ai'],
    ['vertex', 'vertex-ai'],
  ])('suggests for "%s" among others %s', (asked, meant) => {
    expect(refusalOf(asked).message).toContain(`"${meant}"`);
  });

  it('suggests nothing when nothing is near', () => {
    expect(refusalOf('nobody').message).toBe(
      `There is no provider "nobody". GET /v1/provider-catalog lists all ${providers.size}.`,
    );
  });

  it('repeats only the beginning of a long id', () => {
    expect(refusalOf('x'.repeat(10_000)).message.length).toBeLessThan(500);
  });
});

describe('findEndpointRow', () => {
  it('finds chat completions', () => {
    expect(findEndpointRow('POST', '/chat/completions')?.id).toBe('chat-completions');
  });

  it.each([
    ['GET', '/chat/completions'],
    ['POST', '/chat/completions/'],
    ['POST', '/v1/chat/completions'],
    ['POST', '/__proto__'],
    ['__proto__', '/chat/completions'],
  ])('takes %s %s for a pass-through', (method, path) => {
    expect(findEndpointRow(method, path)).toBeNull();
  });
});

describe('the number of providers', () => {
  it.each([
    ['README.md', '**Providers**: '],
    ['docs/requests.md', 'which of the '],
    ['openapi.json', 'Id of a provider: one of the '],
  ])('is that of the catalogue in %s', (file, before) => {
    const text = readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8');
    const [, after = ''] = text.split(before);

    expect(Number.parseInt(after, 10)).toBe(providers.size);
  });
});
