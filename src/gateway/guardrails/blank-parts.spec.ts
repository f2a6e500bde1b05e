import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

let gateway: TestGateway;
afterEach(() => gateway.close());

const ask = async (provider: string, texts: readonly string[], redact: boolean): Promise<number> => {
  gateway = await aGateway({ virtualKeys: { 'openai-prod': provider }, answers: [{ chunks: ['{}'] }] });
  const content = texts.map((text) => ({ type: 'text', text }));
  const config = { input_guardrails: [{ 'default.pii': { redact }, deny: true }] };
  const { status } = await gateway.chat(
    { model: 'm', max_tokens: 5, messages: [{ role: 'user', content }] },
    { 'x-gateway-config': JSON.stringify(config) },
  );
  return status;
};

/** Anthropic refuses blank texts, so the translation leaves them out, and the parts beside one become neighbours. */
describe.each(['openai', 'anthropic', 'google'])(
  'personal data in the parts beside a blank one, for %s',
  (provider) => {
    it.each(['  ', '\n', '\t \n', ''])('is redacted: %j', async (blank) => {
      await ask(provider, ['Write to joe@exam', blank, blank, 'ple.com today'], true);

      const sent = (gateway.calls[0]?.body as Buffer).toString();
      expect(sent).toContain('Write to {{EMAIL_ADDRESS_1}}');
      expect(sent).toContain(' today');
      expect(sent).not.toMatch(/joe@|ple\.com/);
    });

    it('is denied by a guardrail that does not redact', async () => {
      expect(await ask(provider, ['joe@exam', '  ', 'ple.com'], false)).toBe(446);
      expect(gateway.calls).toEqual([]);
    });

    it('passes unchanged where there is none', async () => {
      await ask(provider, ['Write to joe', '  ', 'today'], true);

      expect((gateway.calls[0]?.body as Buffer).toString()).toContain('Write to joe');
    });
  },
);
