import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

const FAILURE = { code: 'model_overloaded', message: 'The model is overloaded.' };
const FORBIDDEN = { 'default.contains': { words: ['Apollo'], operator: 'none' }, deny: true };
const REQUIRED = { 'default.wordCount': { minWords: 1 }, deny: true };

async function answerTo(
  path: string,
  { status = 200, reply, guardrail }: { status?: number; reply: string; guardrail: object },
) {
  gateway = await aGateway({
    virtualKeys: { 'openai-prod': path.endsWith('interactions') ? 'google' : 'openai' },
    answers: [{ status, chunks: [reply] }],
  });
  const answer = await gateway.request(path, {
    method: 'POST',
    body: JSON.stringify({ model: 'a-model', input: 'Hi' }),
    headers: {
      'content-type': 'application/json',
      'x-gateway-virtual-key': 'openai-prod',
      'x-gateway-config': JSON.stringify({ output_guardrails: [guardrail] }),
    },
  });
  return { status: answer.status, text: await answer.text() };
}

describe.each([
  [
    '/v1beta/interactions',
    { id: 'v1_x', object: 'interaction', status: 'failed', error: FAILURE, steps: [] },
  ],
  ['/v1/responses', { id: 'resp_1', object: 'response', status: 'failed', error: FAILURE, output: [] }],
])('a failed object of %s, under a guardrail of the response', (path, failed) => {
  const reply = JSON.stringify(failed, null, 1);

  it.each([200, 400, 500])('passes as the provider sent it, with status %i', async (status) => {
    expect(await answerTo(path, { status, reply, guardrail: FORBIDDEN })).toEqual({ status, text: reply });
  });

  it('passes also where the guardrail requires something of a text', async () => {
    expect(await answerTo(path, { reply, guardrail: REQUIRED })).toEqual({ status: 200, text: reply });
  });

  it('is withheld for a text that it has', async () => {
    const error = { ...FAILURE, message: 'No result for the Apollo plan.' };
    const answer = await answerTo(path, {
      reply: JSON.stringify({ ...failed, error }),
      guardrail: FORBIDDEN,
    });
    expect(answer.status).toBe(446);
    expect(answer.text).not.toContain('Apollo plan');
  });
});
