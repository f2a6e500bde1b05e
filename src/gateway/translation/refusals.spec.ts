import { afterEach, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

it('a refusal whose type is in a header is reported as that type', async () => {
  const headers = {
    'content-type': 'application/json',
    'x-amzn-errortype': 'ThrottlingException:http://internal.amazon.com/coral/',
  };
  const answers = [{ status: 400, headers, chunks: ['{"message":"Too many requests."}'] }];
  gateway = await aGateway({ virtualKeys: { rock: 'bedrock' }, answers });
  const body = { model: 'amazon.nova-pro-v1:0', messages: [{ role: 'user', content: 'Hi' }] };
  const answer = await gateway.chat(body, { 'x-gateway-virtual-key': 'rock' });

  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({
    error: { type: 'rate_limit_error', code: 'rate_limit_exceeded' },
  });
});

it('a refusal of the gateway names the parameter, and has the outer type of an Anthropic client', async () => {
  gateway = await aGateway({ virtualKeys: { claude: 'anthropic', gemini: 'google' } });
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] };
  const headers = { 'content-type': 'application/json', 'x-gateway-virtual-key': 'gemini' };
  const asked = JSON.stringify({ ...body, container: 'c' });
  const messages = await gateway.request('/v1/messages', { method: 'POST', headers, body: asked });
  const chat = await gateway.chat({ ...body, seed: 7 }, { 'x-gateway-virtual-key': 'claude' });

  expect(await messages.json()).toMatchObject({
    type: 'error',
    error: { code: 'parameter_unsupported', param: 'container' },
  });
  const refused = (await chat.json()) as Record<string, unknown>;
  expect(refused).toMatchObject({ error: { code: 'parameter_unsupported', param: 'seed' } });
  expect(refused).not.toHaveProperty('type');
});
