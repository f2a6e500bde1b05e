import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../settings/secret.js';
import { buildLogger } from './logger.js';

function logged(write: (log: ReturnType<typeof buildLogger>) => void): Record<string, unknown> {
  const lines: string[] = [];
  write(buildLogger({ write: (line) => void lines.push(line) }));
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('logger', () => {
  beforeEach(() => void vi.stubEnv('GATEHOUSE_LOG_LEVEL', 'info'));
  afterEach(() => void vi.unstubAllEnvs());

  it('writes one JSON object a line, with the level by name and the time in ISO form', () => {
    const line = logged((log) => log.warn({ port: 8787 }, 'listening'));

    expect(line).toMatchObject({ level: 'warn', msg: 'listening', port: 8787, pid: process.pid });
    expect(new Date(String(line['time'])).toISOString()).toBe(line['time']);
  });

  it.each([
    ['line breaks', 'a\r\nb\nc'],
    ['terminal commands', '\u001b[31mred\u001b[0m'],
    ['the end of a line and the beginning of another', '"}\n{"level":"fatal"'],
    ['line separators', 'a\u2028b\u2029c\u0085d'],
    ['a NUL and half a surrogate pair', 'a\u0000b\ud800'],
    ['a million letters', 'x'.repeat(1_000_000)],
  ])('N13: writes one line of a text with %s', (_, text) => {
    const lines: string[] = [];
    const log = buildLogger({ write: (line) => void lines.push(line) });
    log.warn({ text, [text.slice(0, 100)]: 1, err: new Error(text) }, text);

    expect(lines).toHaveLength(1);
    const [line = ''] = lines;
    expect(line.slice(0, -1)).not.toMatch(/[\u0000-\u001f]/);
    expect(line.endsWith('\n')).toBe(true);
    expect(JSON.parse(line)).toMatchObject({ level: 'warn' });
  });

  it('names the component of a line', () => {
    const line = logged((log) => log.child({ component: 'spool' }).info('It works.'));
    expect(line).toMatchObject({ component: 'spool', msg: 'It works.' });
  });

  it('masks credentials at each depth that is logged', () => {
    const line = logged((log) =>
      log.info(
        {
          token: 'aaa',
          request: {
            apiKey: 'bbb',
            headers: { authorization: 'Bearer ccc', 'x-gateway-api-key': 'ddd', accept: 'text/plain' },
          },
        },
        'in',
      ),
    );

    expect(JSON.stringify(line)).not.toMatch(/aaa|bbb|ccc|ddd/);
    expect(line).toMatchObject({ request: { headers: { accept: 'text/plain' } } });
  });

  it('masks a Secret wherever it appears', () => {
    expect(
      JSON.stringify(logged((log) => log.info({ a: { b: { c: { d: new Secret('open sesame') } } } }, 'x'))),
    ).not.toContain('open sesame');
  });

  it.each([
    ['ECONNREFUSED', { code: 'ECONNREFUSED' }],
    ['ENOTFOUND', { code: 'ENOTFOUND' }],
    ['MaxRetriesPerRequestError', { name: 'MaxRetriesPerRequestError' }],
  ])('leaves out the stack of a network failure: %s', (_, fields) => {
    const line = logged((log) =>
      log.warn({ err: Object.assign(new Error('no reply'), fields) }, 'It failed.'),
    );

    expect(line).toMatchObject({ err: { message: 'no reply' } });
    expect(line).not.toHaveProperty('err.stack');
  });

  it('keeps the message and the stack of an error, and masks what hangs on it', () => {
    const failure = Object.assign(new Error('no route'), { password: 'hunter2' });
    const line = logged((log) => log.error({ err: failure }, 'failed'));

    expect(line).toMatchObject({ err: { message: 'no route', stack: expect.stringContaining('no route') } });
    expect(JSON.stringify(line)).not.toContain('hunter2');
  });
});
