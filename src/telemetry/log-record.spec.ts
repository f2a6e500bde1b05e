import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { buildLogger } from '../common/observability/logger.js';
import { lineRecord } from './log-record.js';

const ID = '0199f7b2-6f0e-7c3a-9d55-0f3f6a1c2b3d';
const TRACE = '0af7651916cd43dd8448eb211c80319c';

function lineOf(fields: object, text: string): string {
  const lines: string[] = [];
  buildLogger({ write: (line) => void lines.push(line) }).error(fields, text);
  return lines[0] ?? '';
}

describe('a log line for OpenTelemetry', () => {
  beforeEach(() => void vi.stubEnv('GATEHOUSE_LOG_LEVEL', 'info'));
  afterEach(() => void vi.unstubAllEnvs());

  it('keeps its text, time, level and fields, and the failure as an exception', () => {
    const record = lineRecord(
      lineOf({ component: 'spool', err: new TypeError('no room'), at: { disk: 1 } }, 'Full.'),
      true,
    );
    expect(record).toMatchObject({
      severityText: 'ERROR',
      severityNumber: 17,
      body: 'Full.',
      attributes: {
        'process.pid': process.pid,
        'gatehouse.component': 'spool',
        'gatehouse.at': '{"disk":1}',
        'exception.type': 'TypeError',
        'exception.message': 'no room',
        'exception.stacktrace': expect.stringContaining('TypeError: no room'),
      },
    });
    expect(record?.spanContext).toBeUndefined();
    expect(Math.abs((record?.hrTime[0] ?? 0) - Date.now() / 1_000)).toBeLessThan(60);
  });

  it('belongs to the span of its request, of which an untrusted client chooses nothing', () => {
    const text = lineOf(
      { request_id: ID, trace_id: TRACE, span_id: 'b7ad6b7169203331' },
      'A request failed.',
    );
    expect(lineRecord(text, true)?.spanContext).toEqual({
      traceId: TRACE,
      spanId: 'b7ad6b7169203331',
      traceFlags: 1,
    });
    expect(lineRecord(text, false)?.spanContext).toMatchObject({ traceId: ID.replaceAll('-', '') });
    expect(lineRecord(text, true)?.attributes).toMatchObject({ 'gatehouse.request.id': ID });
  });

  it('masks credentials as on standard output', () => {
    const text = lineOf({ headers: { authorization: 'Bearer canary' } }, 'Sent.');
    const sent = JSON.stringify(lineRecord(text, true));
    expect(sent).toContain('***');
    expect(sent).not.toContain('canary');
  });

  it('is none for other text', () => {
    expect(lineRecord('(node:1) Warning: something', true)).toBeNull();
  });
});
