import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ENDPOINT_IDS } from '../endpoint.js';
import { compiled } from './lookup.js';
import { endpoints, findEndpointRow } from './index.js';

const operations = endpoints.flatMap((endpoint) =>
  endpoint.operations.map(({ method, path }) => ({ method, path, endpoint, id: endpoint.id })),
);
const filled = (path: string, id: string): string => path.replaceAll(/\{\w+\}/g, id);
const withIds = operations.filter(({ path }) => path.includes('{'));

describe('the table of endpoints', () => {
  it('has every endpoint that the gateway knows by name', () => {
    expect(new Set(endpoints.map(({ id }) => id))).toEqual(new Set(ENDPOINT_IDS));
  });

  it('has every request once', () => {
    const requests = operations.map(({ method, path }) => `${method} ${filled(path, '{}')}`);

    expect(new Set(requests).size).toBe(requests.length);
  });

  it('reads usage only where a request generates a response', () => {
    for (const { usage, operations: own } of endpoints)
      // A session is a GET that lasts as long as its connection.
      if (usage)
        for (const { method, path } of own) expect(path === '/realtime' ? 'POST' : method).toBe('POST');
  });

  it('gives the row that is read to who looks an endpoint up by its id', () => {
    const byId = new Map(endpoints.map((endpoint) => [endpoint.id, endpoint]));

    for (const endpoint of endpoints) if (endpoint.usage) expect(byId.get(endpoint.id)).toBe(endpoint);
  });
});

describe('findEndpointRow', () => {
  it.each(operations)('finds $method $path', ({ method, path, endpoint }) => {
    for (const id of ['file-abc123', 'ft:gpt-4o:org::7p4lURel', '..a', 'gemini-2.5-pro', '%40slug', '{id}'])
      expect(findEndpointRow(method, filled(path, id))).toBe(endpoint);
  });

  it.each(operations)('takes what is near $method $path for something else', ({ method, path, endpoint }) => {
    const whole = filled(path, 'x1');

    for (const near of [
      `${whole}/`,
      `${whole}/more/of/it`,
      whole.slice(1),
      `/${whole}`,
      `/v1${whole}`,
      `${whole}?a`,
    ])
      expect(findEndpointRow(method, near)).not.toBe(endpoint);
    for (const other of ['PUT', 'PATCH', 'HEAD', 'OPTIONS', method.toLowerCase(), '__proto__', ''])
      expect(findEndpointRow(other, whole)).toBeNull();
  });

  it.each(withIds)(
    'takes no segment for the id of $method $path that is more or less than a name',
    ({ method, path }) => {
      const others = [
        '',
        '.',
        '..',
        'a%2Fb',
        'a%2fb',
        'a%5Cb',
        'a\\b',
        '%2e%2e',
        '%2E',
        '%252e',
        'a;b',
        '..;',
        'a?b',
        'a#b',
        'a b',
        'ü',
      ];
      for (const other of others) expect(findEndpointRow(method, filled(path, other))).toBeNull();
    },
  );

  it.each([
    ['GET', '/chat/completions'],
    ['GET', '/responses'],
    ['POST', '/responses/compact/more'],
    ['GET', '/interactions/one'],
    ['POST', '/responses/input_tokens'],
    ['POST', '/messages/batches'],
    ['POST', '/models/gemini-2.5-pro'],
    ['POST', '/models/gemini-2.5-pro:predict'],
    ['POST', '/models/:generateContent'],
    ['POST', '/v1beta/models/a/b:generateContent'],
    ['POST', '/models/toString:constructor'],
    ['GET', '/constructor/prototype'],
    ['GET', '/files/a/content/b'],
    ['GET', '/'],
    ['GET', ''],
  ])('takes %s %s for a pass-through', (method, path) => {
    expect(findEndpointRow(method, path)).toBeNull();
  });

  it('knows a path that is too long for none', () => {
    expect(findEndpointRow('GET', `/files/${'a'.repeat(256)}`)?.id).toBe('files');
    expect(findEndpointRow('GET', `/files/${'a'.repeat(100_000)}`)).toBeNull();
  });

  it('never throws, and finds only rows of the table', () => {
    const segment = fc.oneof(
      fc.string(),
      fc.constantFrom('files', 'models', 'vector_stores', '..', '%2F', '{id}', 'x:generateContent', ''),
    );
    const path = fc.oneof(
      fc.string(),
      fc.array(segment).map((parts) => `/${parts.join('/')}`),
    );
    const method = fc.oneof(fc.constantFrom('GET', 'POST', 'DELETE'), fc.string());
    fc.assert(
      fc.property(method, path, (verb, target) => {
        const found = findEndpointRow(verb, target);
        expect(found === null || endpoints.includes(found)).toBe(true);
      }),
      { numRuns: 10_000 },
    );
  });

  it('decides about paths that are none of its own without a scan of the rows', () => {
    const paths = ['/audio/unknown/thing', '/v2/anything', '/threads/abc/runs', '/files/a/b/c', '/x'];
    const patterns = operations.map(({ path }) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`));
    const asked = (find: (path: string) => unknown): number => {
      const began = performance.now();
      for (let turn = 0; turn < 20_000; turn++) find(paths[turn % paths.length] as string);
      return performance.now() - began;
    };
    const ways = [
      (path: string) => findEndpointRow('POST', path),
      (path: string) => patterns.find((pattern) => pattern.test(path)),
    ];
    // The best of several, in turn, because other work shares the machine.
    const rounds = Array.from({ length: 5 }, () => ways.map(asked));
    const [table = 0, rowAfterRow = 0] = ways.map((_, way) =>
      Math.min(...rounds.map((round) => round[way] ?? 0)),
    );

    expect(table).toBeLessThan(rowAfterRow / 2);
  });
});

describe('compiled', () => {
  it('finds nothing where there is nothing', () => {
    expect(compiled([])('GET', '/files')).toBeNull();
  });
});
