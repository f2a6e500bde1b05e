import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

describe('a response that is translated', () => {
  it.each([
    ['a plain response', 'application/json', false],
    ['a stream', 'text/event-stream', true],
  ])('is refused with 502 if its content-encoding cannot be decoded: %s', async (_, type, stream) => {
    gateway = await aGateway({
      virtualKeys: { claude: 'anthropic' },
      answers: [{ headers: { 'content-type': type, 'content-encoding': 'dcz' }, chunks: ['\u0001\u0002'] }],
    });

    const body = { model: 'gpt-4o-mini', stream, messages: [{ role: 'user', content: 'Hi' }] };
    const response = await gateway.chat(body, { 'x-gateway-virtual-key': 'claude' });

    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ error: { code: 'upstream_protocol_error' } });
    expect(await gateway.logged()).toMatchObject({ status: 502, error_code: 'upstream_protocol_error' });
  });
});
