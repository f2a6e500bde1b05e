import { afterEach, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

it('a refusal whose type stands in a header is told as what it is', async () => {
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
