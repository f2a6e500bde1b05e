import { describe, expect, it } from 'vitest';
import { customLogsIn } from './custom-log.js';

const log = {
  request: { url: 'https://api.openai.com/v1/chat/completions', body: {} },
  response: { body: {} },
};
const read = (given: unknown) => () => customLogsIn(given, 0);

describe('logs of calls made elsewhere', () => {
  it('are refused with the wrong field, in our wording', () => {
    expect(read({ response: log.response })).toThrow(
      'The field "request" is invalid: it is required and must be an object.',
    );
    expect(read([log, { ...log, response: { body: {}, status: 'ok' } }])).toThrow(
      'The field "[1].response.status" is invalid: it must be a number.',
    );
    expect(read({ ...log, more: 1 })).toThrow('There is no field "more" here.');
    expect(read(['text'])).toThrow('A log is invalid: it must be an object.');
  });

  it('are traces of their own where the names of trace and span are empty', () => {
    const [call] = customLogsIn({ ...log, metadata: { trace_id: '', span_id: '', parent_span_id: '' } }, 0);
    expect(call).toMatchObject({ traceId: call?.id, spanId: null, parentSpanId: null });
  });
});
