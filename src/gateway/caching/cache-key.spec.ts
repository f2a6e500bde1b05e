import { describe, expect, it } from 'vitest';
import { Secret } from '../../common/settings/secret.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { Target } from '../types/target.js';
import { type CacheKeyParts, cacheKey } from './cache-key.js';

const provider = findProvider('openai');

const target: Target = {
  provider,
  origin: 'https://api.openai.com',
  basePath: '/v1',
  query: '',
  virtualKey: { id: 'vk-1', slug: 'openai-prod' },
  credentials: { key: new Secret('sk-one'), fields: {} },
  isCustomHost: false,
  forwarded: null,
};
const BODY = '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"hello"}],"temperature":0}';
const wireOf = (body: string, headers: string[] = ['authorization', 'Bearer sk-one']) => ({
  method: 'POST',
  path: '/v1/chat/completions',
  headers,
  body: Buffer.from(body),
});
const asked: CacheKeyParts = {
  organizationId: 'org-a',
  workspaceId: 'ws-1',
  namespace: null,
  metadata: null,
  endpoint: 'chat-completions',
  isStreamed: false,
  target,
  wire: wireOf(BODY),
};
const KEY = cacheKey(asked);
const keyWith = (wishes: Partial<CacheKeyParts>) => cacheKey({ ...asked, ...wishes });

describe('the key of a request', () => {
  it('is a whole SHA-256', () => {
    expect(KEY).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each<[string, Partial<CacheKeyParts>]>([
    ['the organization', { organizationId: 'org-b' }],
    ['the workspace', { workspaceId: 'ws-2' }],
    ['a namespace', { namespace: 'n' }],
    ['metadata', { metadata: { _user: 'ann' } }],
    ['the endpoint', { endpoint: 'messages' }],
    ['whether it is streamed', { isStreamed: true }],
    ['the place', { target: { ...target, origin: 'https://eu.api.openai.com' } }],
    ['the path', { wire: { ...asked.wire, path: '/v1/other' } }],
    ['the model', { wire: wireOf(BODY.replace('mini', 'large')) }],
    ['a parameter', { wire: wireOf(BODY.replace('"temperature":0', '"temperature":1')) }],
    ['a header that a provider may read', { wire: wireOf(BODY, ['OpenAI-Beta', 'x']) }],
  ])('differs by %s', (_, wishes) => {
    expect(keyWith(wishes)).not.toBe(KEY);
  });

  it('cannot be made to look like another one by moving text between its parts', () => {
    expect(keyWith({ organizationId: 'org-aw', workspaceId: 's-1' })).not.toBe(KEY);
    expect(keyWith({ namespace: '[]' })).not.toBe(keyWith({ metadata: {} }));
  });

  it('is the same for the same body in another order and with other blanks', () => {
    const other = `{ "temperature": 0, "messages": [ {"content":"hello","role":"user"} ], "model": "gpt-4o-mini" }`;
    expect(keyWith({ wire: wireOf(other) })).toBe(KEY);
    expect(keyWith({ wire: wireOf(BODY.replace('hello', 'hello ')) })).not.toBe(KEY);
  });

  it('heeds the order of lists, which means something', () => {
    const body = (order: string) => wireOf(`{"input":${order}}`);
    expect(keyWith({ wire: body('["a","b"]') })).not.toBe(keyWith({ wire: body('["b","a"]') }));
  });

  it('is none for numbers that a double cannot distinguish, and for what is not JSON', () => {
    expect(keyWith({ wire: wireOf('{"seed":9007199254740993}') })).toBeNull();
    expect(keyWith({ wire: wireOf('{"seed":1e400}') })).toBeNull();
    expect(keyWith({ wire: wireOf('{') })).toBeNull();
    expect(keyWith({ wire: { ...asked.wire, body: null } })).toBeNull();
    expect(keyWith({ wire: wireOf(`${'['.repeat(200_000)}${']'.repeat(200_000)}`) })).toBeNull();
  });

  it.each([
    `{"messages":[{"role":"user","content":"evil"}],${BODY.slice(1)}`,
    '{"model":"m","model":"m"}',
    '{"messages":[{"role":"user","content":"a","cont\\u0065nt":"b"}]}',
  ])('is none for a body with a member that occurs twice: %s', (body) => {
    expect(keyWith({ wire: wireOf(body) })).toBeNull();
  });

  it('is the same whatever the client says of itself and of its traces', () => {
    const headers = [
      'User-Agent',
      'x',
      'traceparent',
      'y',
      'X-Stainless-Lang',
      'js',
      'authorization',
      'Bearer sk-one',
    ];
    expect(keyWith({ wire: wireOf(BODY, headers) })).toBe(KEY);
  });

  it("does not know the credential of a virtual key, which is the workspace's own, and knows every other", () => {
    expect(keyWith({ wire: wireOf(BODY, ['authorization', 'Bearer sk-two']) })).toBe(KEY);
    const own = { ...target, virtualKey: null, credentials: { key: null, fields: {} } };
    const withKey = (key: string) =>
      keyWith({ target: own, wire: wireOf(BODY, ['authorization', `Bearer ${key}`]) });
    expect(withKey('sk-one')).not.toBe(KEY);
    expect(withKey('sk-one')).not.toBe(withKey('sk-two'));
    const written = (key: string) =>
      keyWith({ target: { ...own, credentials: { key: new Secret(key), fields: {} } } });
    expect(written('sk-one')).not.toBe(written('sk-two'));
  });
});
