import { afterEach, describe, expect, it } from 'vitest';
import { aCaller, aGateway, type GatewayWishes, type TestGateway } from '../../../test/support/gateway.js';
import type { AppError } from '../../common/errors/app-error.js';
import type { GuardrailSnapshot } from '../ports.js';
import { applicable } from './applicable.js';
import type { GuardInput } from './guard-request.js';
import { NO_GUARDS } from './guardrails.js';
import type { Hook } from './run-hooks.js';

const guardrail = (id: string, word: string, deny = true): GuardrailSnapshot => ({
  id: `00000000-0000-7000-8000-${id.padStart(12, '0')}`,
  spec: {
    ...{ id: `pg-${word}`, type: 'guardrail', deny, isAsync: false, isSequential: false, failOnError: false },
    ...{ onSuccess: null, onFail: null },
    checks: [
      {
        ...{ id: 'default.contains', name: null, isEnabled: true },
        parameters: { operator: 'none', words: [word] },
      },
    ],
  },
});
const STORED = {
  'pg-first': guardrail('1', 'first'),
  'pg-second': guardrail('2', 'second'),
  'pg-out': guardrail('3', 'secret'),
};
const GUARDED = aCaller({
  guardrails: { input_guardrails: ['pg-first', 'pg-second'], output_guardrails: ['pg-out'] },
});
const answer = (content: string) => ({
  chunks: [JSON.stringify({ model: 'gpt-4o-mini', choices: [{ message: { role: 'assistant', content } }] })],
});
const saying = (content: string) => ({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] });

let gateway: TestGateway;
const given = async (wishes: GatewayWishes = {}): Promise<TestGateway> =>
  (gateway = await aGateway({ caller: GUARDED, guardrails: STORED, answers: [answer('Fine')], ...wishes }));
afterEach(() => gateway.close());

describe('guardrails of a workspace and its organization', () => {
  it('apply to requests without a config, and to responses', async () => {
    const { chat, calls } = await given({ answers: [answer('the secret is out')] });

    expect((await chat(saying('the second one'))).status).toBe(446);
    expect(calls).toHaveLength(0);
    expect((await chat(saying('Hello'))).status).toBe(446);
    expect(calls).toHaveLength(1);
  });

  it('come before those of a config, which cannot leave them out', async () => {
    const config = {
      ...{ virtual_key: 'openai-prod', passthrough: true, input_guardrails: [] },
      before_request_hooks: [
        { 'default.contains': { operator: 'none', words: ['third'] }, id: 'own', deny: true },
      ],
    };
    const headers = { 'x-gateway-config': JSON.stringify(config) };
    const { chat, logs } = await given();

    expect((await chat(saying('first'), headers)).status).toBe(446);
    expect((await chat(saying('third'), headers)).status).toBe(446);
    expect((await chat(saying('none'), headers)).status).toBe(200);

    const ran = logs.map(({ record }) =>
      (record.hook_results?.before_request_hooks as { id: string }[]).map(({ id }) => id),
    );
    expect(ran).toEqual([['pg-first'], ['pg-first', 'pg-second', 'own'], ['pg-first', 'pg-second', 'own']]);
  });

  it('refuse everything when one of them is gone', async () => {
    const { chat, calls } = await given({ guardrails: { 'pg-first': STORED['pg-first'] } });

    expect((await chat(saying('Hello'))).status).toBe(404);
    expect(calls).toHaveLength(0);
  });

  it('refuse what passes through unread, where they may deny', async () => {
    const { request, calls } = await given();
    const headers = { 'x-gateway-virtual-key': 'openai-prod', 'content-type': 'application/json' };

    const posted = await request('/v1/unheard/of', { method: 'POST', body: '{"prompt":"first"}', headers });
    const read = await request('/v1/unheard/of', { headers });

    expect(posted.status).toBe(403);
    expect(await posted.json()).toMatchObject({ error: { code: 'guardrail_inapplicable' } });
    expect(read.status).toBe(403);
    expect(calls).toHaveLength(0);
  });

  it('read what is sent through the proxy path to an endpoint that the gateway knows', async () => {
    const { request, calls } = await given();
    const headers = { 'x-gateway-virtual-key': 'openai-prod', 'content-type': 'application/json' };
    const body = JSON.stringify(saying('the first'));

    const response = await request('/v1/proxy/chat/completions', { method: 'POST', body, headers });

    expect([403, 446]).toContain(response.status);
    expect(calls).toHaveLength(0);
  });

  describe.each([
    ['may override', true, 200],
    ['may not override', false, 403],
  ])('of a config that the key %s', (_, allowsOverride, status) => {
    it.each([
      '/v1/chat/completions/',
      '/v1/chat/%63ompletions',
      '/v1/responses//compact',
      '/v1/responses/compact;a',
      '/v1beta/Models/gemini-2.5-flash:generateContent',
      '/v1/unknown',
    ])(`get ${status} for a body that they do not read: %s`, async (path) => {
      const { request, calls } = await given({
        caller: aCaller({ routing: { configId: 'fixed', allowsOverride } }),
        configs: { fixed: { virtual_key: 'openai-prod', input_guardrails: ['pg-first'] } },
      });

      const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
      const response = await request(path, { ...init, body: JSON.stringify(saying('first')) });

      expect(response.status).toBe(status);
      expect(calls).toHaveLength(status === 200 ? 1 : 0);
    });

    it('deny what they read', async () => {
      const { chat } = await given({
        caller: aCaller({ routing: { configId: 'fixed', allowsOverride } }),
        configs: { fixed: { virtual_key: 'openai-prod', input_guardrails: ['pg-first'] } },
      });

      expect((await chat(saying('first'), {})).status).toBe(446);
    });
  });

  it("carry the workspace's metadata over that of the request", async () => {
    const { chat, logged } = await given({ caller: aCaller({ metadata: { team: 'search', plan: 'paid' } }) });

    await chat(saying('Hello'), { 'x-gateway-metadata': '{"team":"mine","user":"ada"}' });

    expect((await logged()).metadata).toEqual({ team: 'search', plan: 'paid', user: 'ada' });
  });
});

describe('a WebSocket', () => {
  const hook = (more: object = {}): Hook =>
    ({
      spec: { ...STORED['pg-first'].spec, ...more },
      checks: [{ readsTexts: true, spec: { id: 'default.contains' }, check: {} }],
    }) as unknown as Hook;
  const socket = {
    ...{ exchangeFacts: {}, content: { isWebSocket: true }, headers: {}, caller: aCaller() },
  } as unknown as GuardInput;
  const code = (own: Hook, imposed?: Hook): string | null => {
    try {
      const guards = (one?: Hook) => (one ? { input: [], output: [one] } : NO_GUARDS);
      applicable({ imposed: guards(imposed), own: guards(own) }, socket);
      return null;
    } catch (error) {
      return (error as AppError).code;
    }
  };

  it('is refused where a guardrail may deny for what it reads, whoever requires it', async () => {
    await given();

    expect(code(hook())).toBe('guardrail_inapplicable');
    expect(code(hook({ deny: false }), hook())).toBe('guardrail_inapplicable');
    expect(code(hook({ deny: false }))).toBeNull();
    expect(code(hook({ isAsync: true }))).toBeNull();
  });
});
