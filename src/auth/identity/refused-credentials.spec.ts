import { describe, expect, it } from 'vitest';
import { RecentRefusals, type RefusedRequest } from './recent-refusals.js';
import { RefusedCredentials } from './refused-credentials.js';

const refused = (given: Partial<RefusedRequest> = {}): RefusedRequest => ({
  reason: 'unknown',
  address: '192.0.2.1',
  presented: null,
  target: '/v1/models',
  key: null,
  ...given,
});

describe('refused credentials', () => {
  it('are all counted, and logged once in 30 seconds for each reason with the number since the last line', () => {
    const lines: unknown[] = [];
    let now = 0;
    const credentials = new RefusedCredentials({ warn: (line: unknown) => void lines.push(line) }, () => now);

    for (now = 0; now <= 30_000; now += 1_000) credentials.count(refused());
    credentials.count(refused({ reason: 'missing', address: '192.0.2.2' }));

    expect(credentials.countOf('unknown')).toBe(31);
    expect(credentials.recent.take().map(({ requests }) => requests)).toEqual([31, 1]);
    expect(lines).toEqual([
      { reason: 'unknown', address: '192.0.2.1', since_last: 1 },
      { reason: 'unknown', address: '192.0.2.1', since_last: 30 },
      { reason: 'missing', address: '192.0.2.2', since_last: 1 },
    ]);
  });
});

describe('recent refusals', () => {
  it('are added up by address, end of the credential, reason and organization', () => {
    const recent = new RecentRefusals();
    const key = { id: 'a', organizationId: 'o' };
    const presented = 'gw_ws_0123456789abcdef';
    recent.add(refused({ presented }), 10);
    recent.add(refused({ presented, target: '/v1/embeddings' }), 20);
    recent.add(refused({ presented, key, reason: 'revoked' }), 30);

    expect(recent.take()).toEqual([
      {
        organization_id: null,
        api_key_id: null,
        address: '192.0.2.1',
        last_four: 'cdef',
        reason: 'unknown',
        path: '/v1/models',
        requests: 2,
        first_at: 10,
        last_at: 20,
      },
      expect.objectContaining({ organization_id: 'o', api_key_id: 'a', reason: 'revoked', requests: 1 }),
    ]);
    expect(recent.take()).toEqual([]);
  });

  it.each([
    ['a credential of 15 characters', { presented: 'abcdefghijklmno' }, '', '/v1/models'],
    ['a credential of 16 characters', { presented: 'abcdefghijklmnop' }, 'mnop', '/v1/models'],
    ['a secret in the query', { target: '/v1/models?key=AIzaSyA' }, '', '/v1/models'],
    ['a secret in the path', { target: `/v1/invites/${'s'.repeat(25)}/x` }, '', '/v1/invites/***/x'],
    [
      'control characters',
      { presented: `${'a'.repeat(20)}\u0001é\nb`, target: '/v1/\u0007' },
      '???b',
      '/v1/?',
    ],
    ['a long path', { target: `/${'a/'.repeat(9_000)}` }, '', `/${'a/'.repeat(63)}a`],
  ])('show nothing of %s but what is allowed', (_, given, lastFour, path) => {
    const recent = new RecentRefusals();
    recent.add(refused(given), 1);
    expect(recent.take()).toMatchObject([{ last_four: lastFour, path }]);
  });

  it('stay bounded under 100,000 addresses, lose no request, and keep what came first', () => {
    const recent = new RecentRefusals();
    for (let at = 0; at < 100_000; at++)
      recent.add(
        refused({
          address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
          reason: at % 2 ? 'unknown' : 'missing',
        }),
        at,
      );

    const notes = recent.take();
    expect(notes).toHaveLength(502);
    expect(notes.reduce((sum, { requests }) => sum + requests, 0)).toBe(100_000);
    expect(notes.filter(({ address }) => address === '')).toMatchObject([
      { reason: 'missing', last_four: '', path: '', first_at: 500, last_at: 99_998 },
      { reason: 'unknown', last_four: '', path: '', first_at: 501, last_at: 99_999 },
    ]);
  });

  it('that could not be written are added to later ones within the same bound', () => {
    const recent = new RecentRefusals();
    for (let at = 0; at < 500; at++) recent.add(refused({ address: `192.0.2.${at}` }), at);
    const unwritten = recent.take();
    recent.add(refused({ address: '192.0.2.7' }), 1_000);
    recent.add(refused({ address: 'new' }), 1_001);
    recent.restore(unwritten);

    const notes = recent.take();
    expect(notes.reduce((sum, { requests }) => sum + requests, 0)).toBe(502);
    expect(notes.length).toBeLessThanOrEqual(501);
    expect(notes[0]).toMatchObject({ address: '192.0.2.7', requests: 2, first_at: 7, last_at: 1_000 });
  });
});
