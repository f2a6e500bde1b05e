import { describe, expect, it } from 'vitest';
import type { Endpoint, EndpointId } from '../../providers/endpoint.js';
import { streamFailure } from './stream-failure.js';

const ERROR = { message: 'Stopped.', type: 'guardrail_error', code: 'guardrail_denied', param: null };

function failureAt(id: EndpointId) {
  const facts = { id: 'request', createdAt: 0, endpoint: { id } as Endpoint };
  const exchange = { facts, trail: { body: {}, model: 'm', isStreamed: true } };
  const [, event, data] = /^(?:event: (.*)\n)?data: (.*)\n/.exec(streamFailure(ERROR, exchange)) ?? [];
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
