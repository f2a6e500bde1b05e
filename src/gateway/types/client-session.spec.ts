import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

const ID = '0199c0de-1111-4222-8333-444455556666';
const OTHER = '0199c0de-9999-4222-8333-444455556666';
const TRACE = '0af7651916cd43dd8448eb211c80319c';
type SessionHeaders = Readonly<Record<string, string>>;

let gateway: TestGateway;
afterEach(() => gateway.close());

/** The trace in the log and in the response. */
async function tracesOf(headers: SessionHeaders, body: object): Promise<readonly unknown[]> {
  gateway = await aGateway({});
  const response = await gateway.request('/v1/chat/completions', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [], ...body }),
  });
  const { trace_id, id } = (await gateway.logged()) as { trace_id: string; id: string };
  return [trace_id, response.headers.get('x-gateway-trace-id'), trace_id === id];
}

const CLAUDE = { metadata: { user_id: JSON.stringify({ device_id: 'd', session_id: ID }) } };

describe('the session of a client is the trace of its requests', () => {
  it.each<[string, SessionHeaders, object]>([
    ['Claude Code by header', { 'x-claude-code-session-id': ID }, {}],
    ['Claude Code by body', {}, CLAUDE],
    ['older Claude Code by body', {}, { metadata: { user_id: `user_ab12_account__session_${ID}` } }],
    ['Codex by session', { 'session-id': ID, 'thread-id': OTHER }, { prompt_cache_key: OTHER }],
    ['Codex by thread', { 'thread-id': ID }, {}],
    ['Codex by cache key', {}, { prompt_cache_key: ID }],
    ['OpenCode', { 'x-session-id': ID, 'x-session-affinity': OTHER }, {}],
    ['OpenCode by affinity', { 'x-session-affinity': ID }, {}],
    ['a header before the body', { 'x-session-id': ID }, { prompt_cache_key: OTHER }],
    ['a valid header after an invalid one', { 'session-id': 'a b', 'x-session-id': ID }, {}],
  ])('%s', async (_, headers, body) => {
    expect(await tracesOf(headers, body)).toEqual([ID, ID, false]);
  });

  it.each<[string, SessionHeaders]>([
    ['x-gateway-trace-id', { 'x-gateway-trace-id': TRACE }],
    ['x-portkey-trace-id', { 'x-portkey-trace-id': TRACE }],
    ['traceparent', { traceparent: `00-${TRACE}-b7ad6b7169203331-01` }],
  ])('unless the client sends %s', async (_, explicit) => {
    const traces = await tracesOf({ ...explicit, 'x-claude-code-session-id': ID }, CLAUDE);
    expect(traces).toEqual([TRACE, TRACE, false]);
  });

  it.each<[string, SessionHeaders, object]>([
    ['too long', { 'x-session-id': 'a'.repeat(129) }, {}],
    ['not an id', { 'x-session-id': '<script>' }, {}],
    ['empty', { 'x-session-id': '' }, {}],
    ['a cache key that many share', {}, { prompt_cache_key: 'support-bot-v1' }],
    ['a user without a session', {}, { metadata: { user_id: 'anna' } }],
    ['a user that is no JSON', {}, { metadata: { user_id: '{"session_id":' } }],
    ['a session that is no text', {}, { metadata: { user_id: '{"session_id":7}' } }],
    ['metadata that is no object', {}, { metadata: 'x', prompt_cache_key: 7 }],
  ])('and a value that names none leaves each request a trace of its own: %s', async (_, headers, body) => {
    expect((await tracesOf(headers, body))[2]).toBe(true);
  });
});
