import { describe, expect, it } from 'vitest';
import { Secret } from '../../common/settings/secret.js';
import { dataPath } from './vault.js';
import { credentialIn, type SecretPart } from './secret-text.js';

const credential = (text: string, part: Partial<SecretPart> = {}): string =>
  credentialIn({ reference: 'a' }, new Secret(text), { key: null, format: null, ...part }).reveal();

describe('the credential in a stored secret', () => {
  it.each([
    ['sk-1\n', {}, 'sk-1'],
    ['{"api_key":"sk-1"}', {}, 'sk-1'],
    ['{"a":"sk-1","b":"sk-2"}', { key: 'b' }, 'sk-2'],
    ['{"a":"sk-1","b":"sk-2"}', {}, '{"a":"sk-1","b":"sk-2"}'],
    ['{\n  "type": "service_account"\n}', { format: 'json' }, '{"type":"service_account"}'],
    ['{"file":{"type":"service_account"}}', { key: 'file', format: 'json' }, '{"type":"service_account"}'],
    ['{"file":"{ \\"a\\": \\"1\\" }"}', { key: 'file' }, '{"a":"1"}'],
  ] as const)('of %j with %j is %j', (text, part, expected) => {
    expect(credential(text, part)).toBe(expected);
  });

  it.each([
    ['sk-canary', { key: 'x' }, 'has no key "x"'],
    ['{"a":"sk-canary"}', { key: 'x' }, 'has no key "x"'],
    ['{"a":"sk-canary"}', { key: 'toString' }, 'has no key "toString"'],
    ['sk-canary', { format: 'json' }, 'no JSON object'],
    ['sk-canary\r\nx-injected: 1', {}, 'printable ASCII'],
    ['', {}, 'printable ASCII'],
    ['canary'.repeat(2_000), {}, 'printable ASCII'],
  ] as const)('is refused for %j with %j, without its value in the error', (text, part, words) => {
    expect(() => credential(text, part)).toThrow(words);
    expect(() => credential(text, part)).not.toThrow('canary');
  });
});

describe('the path of a secret in Vault', () => {
  it.each([
    ['secret/openai', 'secret/data/openai'],
    ['secret/data/openai', 'secret/data/openai'],
    ['secret/team/openai', 'secret/data/team/openai'],
    ['secret/data', 'secret/data/data'],
    ['kv/team/data/openai', 'kv/team/data/openai'],
  ])('%s is read at %s', (path, expected) => {
    expect(dataPath(path)).toBe(expected);
  });
});
