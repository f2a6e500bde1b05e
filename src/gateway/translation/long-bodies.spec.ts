import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';
import type { Json } from '../../providers/endpoint.js';

const MODEL = 'claude-sonnet-4-5';
const TEXT = 'He wrote "no – never"\nto apollo@example.com. '.repeat(400);

const answer = (text: string): ScriptedAnswer => ({
  headers: { 'content-type': 'application/json' },
  chunks: [
    JSON.stringify({
      id: 'm',
      type: 'message',
      model: MODEL,
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 40, output_tokens: 50 },
    }),
  ],
});

let gateway: TestGateway;
afterEach(() => gateway.close());

/** The body that Anthropic receives. */
async function asked(config: Json): Promise<{ readonly sent: string }> {
  gateway = await aGateway({ virtualKeys: { claude: 'anthropic' }, answers: [answer(TEXT)] });
  const response = await gateway.chat(
    { model: MODEL, messages: [{ role: 'user', content: TEXT }] },
    { 'x-gateway-virtual-key': 'claude', 'x-gateway-config': JSON.stringify(config) },
  );
  await response.text();
  const { messages } = JSON.parse((gateway.calls[0]?.body as Buffer).toString()) as { messages: unknown };
  return { sent: JSON.stringify(messages) };
}

describe('a long text in a translated exchange', () => {
  it('leaves as a guardrail has changed it, and not with the bytes with which it came', async () => {
    const { sent } = await asked({ input_mutators: [{ 'default.pii': { redact: true } }] });
    expect(sent).not.toContain('apollo@example.com');
    expect(sent).toContain('He wrote');
  });
});
