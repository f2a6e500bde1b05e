import { afterEach, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

const call = { type: 'function', function: { name: 'f', arguments: '{}' } };
const chat = (id: string) =>
  `{"model": "m", "seed": 12345678901234567890, "messages": [{"role": "user", "content": "x"},` +
  ` {"role": "assistant", "tool_calls": [${JSON.stringify({ id, ...call })}]},` +
  ` {"role": "tool", "tool_call_id": "${id}", "content": "1"}]}`;

const sent = async (id: string): Promise<string> => {
  gateway = await aGateway({ virtualKeys: { mistral: 'mistral-ai' }, answers: [{ chunks: ['{}'] }] });
  const headers = { 'content-type': 'application/json', 'x-gateway-virtual-key': 'mistral' };
  await gateway.request('/v1/chat/completions', { method: 'POST', headers, body: chat(id) });
  return (gateway.calls[0]?.body as Buffer).toString();
};

it('a conversation that began elsewhere reaches Mistral with ids of calls that it takes, and with its other bytes', async () => {
  expect(await sent('toolu_01AbCdEf')).toBe(chat('toolu01Ab'));
});

it('bytes whose ids fit are the client’s own', async () => {
  expect(await sent('AbCdEf123')).toBe(chat('AbCdEf123'));
});
