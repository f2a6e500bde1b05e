import { randomBytes, randomUUID } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { AppError } from '../errors/app-error.js';
import { associatedData } from './associated-data.js';
import { type CredentialBinding, SecretBox } from './envelope.js';
import { Secret } from '../settings/secret.js';

const CLEAR = 'sk-canary-9c1f0c7ad52b4be8';
const aMasterKey = () => new Secret(randomBytes(32).toString('base64'));

function aBinding(organizationId: string): CredentialBinding {
  return {
    organizationId,
    workspaceId: randomUUID(),
    virtualKeyId: randomUUID(),
    providerId: 'openai',
    origin: '',
    fieldSetVersion: 1,
  };
}

function aSealedCredential() {
  const box = new SecretBox(aMasterKey());
  const key = box.makeOrganizationKey(randomUUID());
  const binding = aBinding(key.organizationId);
  return { box, key, binding, sealed: box.seal(key, binding, new Secret(CLEAR)) };
}

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (thrown) {
    return thrown;
  }
  throw new Error('Nothing was thrown.');
}

describe('SecretBox', () => {
  it('opens what it sealed, in another process that has the same master key', () => {
    const masterKey = aMasterKey();
    const writer = new SecretBox(masterKey);
    const key = writer.makeOrganizationKey(randomUUID());
    const binding = aBinding(key.organizationId);
    const sealed = writer.seal(key, binding, new Secret(CLEAR));

    expect(new SecretBox(masterKey).open(key, binding, sealed).reveal()).toBe(CLEAR);
  });

  it('seals the same credential differently each time, and never in clear', () => {
    const { box, key, binding, sealed } = aSealedCredential();

    expect(box.seal(key, binding, new Secret(CLEAR))).not.toEqual(sealed);
    expect(sealed.toString('latin1')).not.toContain(CLEAR);
  });

  it.each([
    ['organizationId', randomUUID()],
    ['workspaceId', randomUUID()],
    ['virtualKeyId', randomUUID()],
    ['providerId', 'groq'],
    ['origin', 'https://evil.example'],
    ['fieldSetVersion', 2],
  ])('refuses a credential moved to another %s', (field, other) => {
    const { box, key, binding, sealed } = aSealedCredential();

    const failure = failureOf(() => box.open(key, { ...binding, [field]: other }, sealed));

    expect(failure).toBeInstanceOf(AppError);
    expect(failure).toMatchObject({ code: 'credential_unusable' });
  });

  it('refuses when any one bit of the sealed bytes changed', () => {
    const { box, key, binding, sealed } = aSealedCredential();
    for (let bit = 0; bit < sealed.length * 8; bit += 1) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(failureOf(() => box.open(key, binding, changed))).toMatchObject({ code: 'credential_unusable' });
    }
  });

  it.each([0, 1, 28, 29])('refuses sealed bytes cut to %i', (length) => {
    const { box, key, binding, sealed } = aSealedCredential();

    expect(failureOf(() => box.open(key, binding, sealed.subarray(0, length)))).toMatchObject({
      code: 'credential_unusable',
    });
  });

  it("refuses another organization's key, and another master key", () => {
    const { box, key, binding, sealed } = aSealedCredential();
    const other = box.makeOrganizationKey(randomUUID());
    const moved = { organizationId: key.organizationId, wrapped: other.wrapped };

    expect(failureOf(() => box.open(other, binding, sealed))).toMatchObject({ code: 'credential_unusable' });
    expect(failureOf(() => box.open(moved, binding, sealed))).toMatchObject({ code: 'credential_unusable' });
    expect(failureOf(() => new SecretBox(aMasterKey()).open(key, binding, sealed))).toMatchObject({
      code: 'credential_unusable',
    });
  });

  it('opens what either of two master keys sealed, and seals an organization key again with the first', () => {
    const [former, next] = [aMasterKey(), aMasterKey()];
    const old = new SecretBox(former);
    const key = old.makeOrganizationKey(randomUUID());
    const binding = aBinding(key.organizationId);
    const sealed = old.seal(key, binding, new Secret(CLEAR));

    for (const box of [new SecretBox(former, next), new SecretBox(next, former)])
      expect(box.open(key, binding, sealed).reveal()).toBe(CLEAR);
    const rewrapped = new SecretBox(next, former).rewrap(key);
    expect(new SecretBox(next).open(rewrapped, binding, sealed).reveal()).toBe(CLEAR);
    expect(failureOf(() => old.open(rewrapped, binding, sealed))).toMatchObject({
      code: 'credential_unusable',
    });
    expect(() => new SecretBox(next, aMasterKey()).rewrap(key)).toThrow();
  });

  it('shows neither the master key nor a credential when it is printed', () => {
    const masterKey = aMasterKey();
    const box = new SecretBox(masterKey);
    const key = box.makeOrganizationKey(randomUUID());
    const binding = aBinding(key.organizationId);
    const opened = box.open(key, binding, box.seal(key, binding, new Secret(CLEAR)));
    const shown = inspect({ box, opened }, { depth: 10, showHidden: true }) + JSON.stringify({ box, opened });

    expect(shown).not.toContain(CLEAR);
    expect(shown).not.toContain(masterKey.reveal());
  });

  it('keeps opening credentials of more organizations than it caches keys of', () => {
    const box = new SecretBox(aMasterKey());
    const records = Array.from({ length: 1100 }, (_, index) => {
      const key = box.makeOrganizationKey(randomUUID());
      const binding = aBinding(key.organizationId);
      return {
        key,
        binding,
        clear: `secret ${index}`,
        sealed: box.seal(key, binding, new Secret(`secret ${index}`)),
      };
    });

    for (const { key, binding, clear, sealed } of records)
      expect(box.open(key, binding, sealed).reveal()).toBe(clear);
  });

  it('refuses a master key that is not 32 bytes', () => {
    expect(() => new SecretBox(new Secret('c2hvcnQ='))).toThrow('32 bytes');
  });
});

describe('associatedData', () => {
  it('gives different bytes for parts cut at different places', () => {
    expect(associatedData(['ab', 'c'])).not.toEqual(associatedData(['a', 'bc']));
    expect(associatedData(['a', ''])).not.toEqual(associatedData(['a']));
  });
});
