import { describe, expect, it } from 'vitest';
import { ORIGIN_HEADERS } from './origin-headers.js';
import { readResponseHead } from './forwarded-headers.js';

/** The headers that reach the client, as lines. */
const passed = (...lines: readonly string[]): string[] => {
  const raw = lines.flatMap((line) => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
  });
  const { headers } = readResponseHead(raw);
  return headers.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${headers[index + 1] ?? ''}`] : []));
};

describe('the headers of a response', () => {
  it.each([
    'Set-Cookie: __Host-gatehouse=stolen; Path=/; Secure',
    'set-cookie: gatehouse_session=stolen',
    'SET-COOKIE:   gatehouse_session =stolen; Max-Age=0',
    'Set-Cookie: =gatehouse_session=stolen',
    'Set-Cookie: gatehouse_session; Path=/',
  ])('does not let a provider touch the session of the dashboard: %s', (line) => {
    expect(passed('Date: today', line, 'Set-Cookie: theirs=1')).toEqual([
      'Date: today',
      'Set-Cookie: theirs=1',
    ]);
  });

  it.each([...ORIGIN_HEADERS])('does not let a provider act on the whole origin: %s', (name) => {
    const odd = name.replaceAll(/(?<=^|-)./g, (letter) => letter.toUpperCase());
    for (const written of [name, odd, name.toUpperCase()])
      expect(passed(`${written}: x`, 'X-Theirs: 1', `${written}: y`)).toEqual(['X-Theirs: 1']);
  });

  it.each(['X-Frame-Options: DENY', 'Content-Security-Policy: sandbox', 'Vary: Origin', 'Location: /a'])(
    'passes what only concerns the response itself: %s',
    (line) => {
      expect(passed(line)).toEqual([line]);
    },
  );

  it.each(['Set-Cookie: gatehouse_session2=1', 'Set-Cookie: x=gatehouse_session=1', 'X-Clear-Site-Data: 1'])(
    'passes what only looks like it: %s',
    (line) => {
      expect(passed(line)).toEqual([line]);
    },
  );
});
