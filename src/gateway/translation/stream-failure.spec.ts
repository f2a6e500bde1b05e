import { describe, expect, it } from 'vitest';
import type { EndpointId } from '../../providers/endpoint.js';
import type { Entry } from '../recording/entry.js';
import { streamFailure } from './stream-failure.js';

const ERROR = { message: 'Stopped.', type: 'guardrail_error', code: 'guardrail_denied', param: null };

function failureAt(id: EndpointId) {
  const entry = { id: 'request', createdAt: 0, endpoint: { id }, trail: { body: {}, model: 'm' } };
  const [, event, data] =
    /^(?:event: (.*)\n)?data: (.*)\n/.exec(streamFailure(ERROR, entry as unknown as Entry)) ?? [];
  return { event: event ?? null, data: JSON.parse(data ?? 'null') as unknown };
}

describe('the error that ends a stream', () => {
  it.each<[EndpointId, string | null, object]>([
    [
      'interactions',
      'error',
      { event_type: 'error', error: { code: 'guardrail_denied', message: 'Stopped.' } },
    ],
    ['generate-content', null, { error: { message: 'Stopped.', status: 'FAILED_PRECONDITION' } }],
    ['messages', 'error', { type: 'error', error: { message: 'Stopped.' } }],
    ['chat-completions', null, { error: ERROR }],
  ])('has the format of %s', (id, event, data) => {
    const failure = failureAt(id);
    expect(failure.event).toBe(event);
    expect(failure.data).toMatchObject(data);
  });
});
