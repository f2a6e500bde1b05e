import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ADMINISTRATION_PATHS, notBuilt, planeOf } from './front-door.js';

describe('planeOf', () => {
  it.each([
    '/v1/chat/completions',
    '/v1/models',
    '/v1/users',
    '/v1/proxy/api-keys',
    '/v1/api-keys-of-mine',
    '/v1//x',
    '/v1beta/models/gemini-2.5-pro:generateContent',
    '/v1alpha/auth_tokens',
    '/upload/v1beta/files',
    '/upload/v1/files',
    '/openai/deployments/gpt-4o/chat/completions',
    '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x',
    '//ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent?key=x',
    '/v1',
    '/v1?a=1',
    '/v1/',
    '/v1/collections/mine',
    '/v1/prompts/p/completions',
    '/v1/labels',
    '/v1/mcp',
    '/v1/proxy/mcp-servers',
    '/v1/@evil.com/x',
  ])('gives %s to the gateway', (target) => {
    expect(planeOf(target)).toBe('gateway');
  });

  it.each([
    '/v1/api-keys',
    '/v1/api-keys/',
    '/v1/api-keys?x=1',
    '/v1/api-keys//organisation/service',
    '/v1/api%2Dkeys/organisation/service',
    '/v1/API-KEYS/organisation/service',
    '/v1/api-keys%2forganisation',
    '/v1/api-keys;x/organisation',
    '/v1/Virtual%2DKeys',
    '/v1//api-keys',
    '/v1/%2fapi-keys',
    '/v1/;x/api-keys',
    '/ws/other',
    '//ws/other',
    '//v1/models',
    '///ws/google.ai.generativelanguage.x',
    '/v1x',
    '/v1/logs',
    '/livez',
    '/upload/v2/files',
    '/upload/../v1beta/files',
    '/%76%31/models',
    'http://evil.com/v1/models',
  ])('never gives %s to a provider', (target) => {
    expect(planeOf(target)).toBe('administration');
  });
});

/** Paths of the compatible API whose first segment the administration does not serve and no provider uses. */
const UNBUILT = ['mcp-integrations', 'mcp-servers', 'scim'];
const SPELLINGS: readonly ((segment: string) => string)[] = [
  (segment) => `/v1/${segment}`,
  (segment) => `/v1/${segment}/1?x=1`,
  (segment) => `/v1/${segment.toUpperCase()}/1`,
  (segment) => `/v1/%${segment.charCodeAt(0).toString(16)}${segment.slice(1)}`,
  (segment) => `/v1//${segment}/1`,
  (segment) => `/v1///${segment}`,
  (segment) => `/v1/%2F${segment}`,
  (segment) => `/v1/${segment}%2f1`,
  (segment) => `/v1/${segment};a=1/2`,
  (segment) => `/v1/;/${segment}`,
  (segment) => `/v1/\\${segment}`,
];

describe('parts of the administration that are not built', () => {
  const targets = UNBUILT.flatMap((segment) => SPELLINGS.map((spelled) => spelled(segment)));

  it.each(targets)('%s belongs to no plane, and is refused by its name', (target) => {
    expect(planeOf(target)).toBe('unbuilt');
    expect(notBuilt(target)?.code).toBe('not_built');
  });

  it.each([...UNBUILT, 'collections', 'labels', 'prompts'])(
    '%s: the error names the path that reaches the provider',
    (name) => {
      expect(notBuilt(`/v1/${name}`)?.message).toContain('/v1/proxy/<path>');
    },
  );

  it('refuse nothing else', () => {
    for (const target of ['/v1/chat/completions', '/v1/configs', '/v1', '/livez', '/v1/proxy/collections'])
      expect(notBuilt(target)).toBeNull();
  });
});

describe('the paths of the administration', () => {
  it('have everything below /v1/admin', () => {
    const { paths } = JSON.parse(readFileSync('openapi.json', 'utf8')) as { paths: Record<string, unknown> };
    const below = Object.keys(paths).filter((path) => path.startsWith('/v1/admin/'));
    const known = [...ADMINISTRATION_PATHS.values()];
    const first = new Set(below.map((path) => path.split('/').slice(0, 4).join('/')));
    expect([...first].filter((path) => path !== '/v1/admin/invites' && !known.includes(path))).toEqual([]);
    for (const path of known.filter((each) => each.startsWith('/v1/admin/')))
      expect(
        below.some((each) => each === path || each.startsWith(`${path}/`)),
        path,
      ).toBe(true);
  });
});
