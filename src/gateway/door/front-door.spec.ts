import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ADMINISTRATION_PATHS, planeOf } from './front-door.js';

describe('planeOf', () => {
  it.each([
    '/v1/chat/completions',
    '/v1/models',
    '/v1/users',
    '/v1/proxy/api-keys',
    '/v1/api-keys-of-mine',
    '/v1//x',
    '/v1beta/models/gemini-2.5-pro:generateContent',
    '/upload/v1beta/files',
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
    '/v1/logs',
    '/livez',
    '/upload/v1/files',
    '/upload/../v1beta/files',
    '/%76%31/models',
    'http://evil.com/v1/models',
  ])('never gives %s to a provider', (target) => {
    expect(planeOf(target)).toBe('administration');
  });
});

describe('the paths of the administration', () => {
  it('have all that stands below /v1/admin', () => {
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
