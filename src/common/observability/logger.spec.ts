import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Secret } from '../crypto/secret.js';
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

  it('shows a Secret as a mask wherever it stands', () => {
    expect(
      JSON.stringify(logged((log) => log.info({ a: { b: { c: { d: new Secret('open sesame') } } } }, 'x'))),
    ).not.toContain('open sesame');
  });

  it('keeps the message and the stack of an error, and masks what hangs on it', () => {
    const failure = Object.assign(new Error('no route'), { password: 'hunter2' });
    const line = logged((log) => log.error({ err: failure }, 'failed'));

    expect(line).toMatchObject({ err: { message: 'no route', stack: expect.stringContaining('no route') } });
    expect(JSON.stringify(line)).not.toContain('hunter2');
  });
});
