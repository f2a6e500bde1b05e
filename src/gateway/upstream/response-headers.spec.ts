import { describe, expect, it } from 'vitest';
import { readResponseHead } from './response-headers.js';

/** The headers that reach the client, as lines. */
const passed = (...lines: readonly string[]): string[] => {
  const raw = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
  });
  const { headers } = readResponseHead(raw);
  return headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : []));
};

describe('the head of an answer', () => {
  it.each([
    'Set-Cookie: __Host-gatehouse=stolen; Path=/; Secure',
    'set-cookie: gatehouse_session=stolen',
    'SET-COOKIE:   gatehouse_session =stolen; Max-Age=0',
    'Set-Cookie: =gatehouse_session=stolen',
    'Set-Cookie: gatehouse_session; Path=/',
    'Clear-Site-Data: "cookies"',
    'clear-site-data: "*"',
  ])('does not let a provider touch the session of the dashboard: %s', (line) => {
    expect(passed('Date: today', line, 'Set-Cookie: theirs=1')).toEqual([
      'Date: today',
      'Set-Cookie: theirs=1',
    ]);
  });

  it.each(['Set-Cookie: gatehouse_session2=1', 'Set-Cookie: x=gatehouse_session=1', 'X-Clear-Site-Data: 1'])(
    'passes what only looks like it: %s',
    (line) => {
      expect(passed(line)).toEqual([line]);
    },
  );
});
