import { randomBytes, randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { inviteIdOf, InviteTokens } from './invite-tokens.js';
import { Secret } from '../settings/secret.js';

const tokens = new InviteTokens(new Secret(randomBytes(32).toString('base64')));
const aPurpose = () => ({ id: randomUUID(), organizationId: randomUUID(), email: 'ada@example.com' });

describe('InviteTokens', () => {
  it('issues a token that names its invite, fits its hash, and is another one each time', () => {
    const purpose = aPurpose();
    const { token, hash } = tokens.issue(purpose);

    expect(inviteIdOf(token)).toBe(purpose.id);
    expect(tokens.isTokenOf(purpose, token, hash)).toBe(true);
    expect(tokens.issue(purpose).token.reveal()).not.toBe(token.reveal());
  });

  it.each([
    ['another invite', { id: randomUUID() }],
    ['another organization', { organizationId: randomUUID() }],
    ['another address', { email: 'eve@example.com' }],
  ])('binds a token to its purpose: %s does not take it', (_, other) => {
    const purpose = aPurpose();
    const { token, hash } = tokens.issue(purpose);

    expect(tokens.isTokenOf({ ...purpose, ...other }, token, hash)).toBe(false);
  });

  it('takes no token while there is no hash, nor one of another pepper', () => {
    const purpose = aPurpose();
    const { token, hash } = tokens.issue(purpose);
    const elsewhere = new InviteTokens(new Secret(randomBytes(32).toString('base64')));

    expect(tokens.isTokenOf(purpose, token, null)).toBe(false);
    expect(elsewhere.isTokenOf(purpose, token, hash)).toBe(false);
  });

  it.each(['', 'gw_invite_', `gw_invite_${'0'.repeat(32)}_short`, `gw_ws_${'a'.repeat(49)}`])(
    'finds no invite in "%s"',
    (text) => {
      expect(inviteIdOf(new Secret(text))).toBeNull();
    },
  );
});
