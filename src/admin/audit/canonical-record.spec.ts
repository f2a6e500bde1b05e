import { describe, expect, it } from 'vitest';
import { canonicalRecord, written } from './canonical-record.js';

const RECORD = {
  ...{ id: 'i', seq: '1', organizationId: 'o', workspaceId: null, actorKind: 'admin_key', actorId: 'a' },
  ...{ actorName: 'n', userId: null, action: 'configs.create', targetType: 'configs', targetId: null },
  ...{ at: new Date(0), ip: '::1', method: 'POST', path: '/v1/configs', request: { b: 1, a: 2 } },
  ...{ before: null, after: null, outcome: 'success' as const, status: 200, errorCode: null, requestId: 'r' },
};

describe('the hashed text of an audit record', () => {
  it('has no query and no headers for a record older than them, so that its hash stays valid', () => {
    expect(canonicalRecord(written({ ...RECORD, queryParams: null, requestHeaders: null }))).toBe(
      '{"action":"configs.create","actorId":"a","actorKind":"admin_key","actorName":"n","after":null,' +
        '"at":"1970-01-01T00:00:00.000Z","before":null,"errorCode":null,"id":"i","ip":"::1","method":"POST",' +
        '"organizationId":"o","outcome":"success","path":"/v1/configs","request":{"a":2,"b":1},"requestId":"r",' +
        '"seq":"1","status":200,"targetId":null,"targetType":"configs","userId":null,"workspaceId":null}',
    );
  });

  it('has its names in order, with the query and the headers', () => {
    const text = canonicalRecord(
      written({ ...RECORD, queryParams: { name: 'z' }, requestHeaders: { origin: 'https://a.example' } }),
    );

    const names = Object.keys(JSON.parse(text) as object);
    expect(names).toEqual([...names].sort());
    expect(names).toEqual(expect.arrayContaining(['queryParams', 'requestHeaders']));
  });
});
