import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type ScriptedAnswer, type TestGateway } from '../../../test/support/gateway.js';

const SSE = { 'content-type': 'text/event-stream' };
const events = (...data: readonly object[]): string =>
  data.map((each) => `data: ${JSON.stringify(each)}\n\n`).join('');
const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 };
const chat = { model: 'gpt-5', choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' } }] };
const chunk = { model: 'gpt-5', choices: [{ index: 0, delta: { content: 'Hello' } }] };
const message = {
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Hello' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 1, service_tier: 'standard' },
};
const CHAT = { model: 'gpt-5', messages: [{ role: 'user', content: 'Hi' }] };
const STREAM = { ...CHAT, stream: true, stream_options: { include_usage: true } };
const RESPONSE = { model: 'gpt-5', input: 'Hi', stream: true };
const MESSAGES = { ...CHAT, max_tokens: 9 };
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] };
const FLASH = 'models/gemini-2.5-flash';
const counts = { promptTokenCount: 3, candidatesTokenCount: 1 };
const gemini = (usageMetadata: object) => ({
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
  usageMetadata,
});

let gateway: TestGateway;
afterEach(() => gateway.close());

interface ServiceTierCase {
  readonly of: string;
  readonly path?: string;
  readonly slug?: string;
  readonly asked: object;
  readonly answer: ScriptedAnswer;
  readonly tier: string | null;
}

const CASES: readonly ServiceTierCase[] = [
  {
    of: 'a plain answer',
    asked: { ...CHAT, service_tier: 'auto' },
    answer: { chunks: [JSON.stringify({ ...chat, usage, service_tier: 'flex' })] },
    tier: 'flex',
  },
  {
    of: 'the last event of a stream, whose first ones repeat the request',
    asked: { ...STREAM, service_tier: 'auto' },
    answer: {
      headers: SSE,
      chunks: [
        events({ ...chunk, service_tier: 'auto' }, { ...chunk, choices: [], usage, service_tier: 'default' }),
        'data: [DONE]\n\n',
      ],
    },
    tier: 'default',
  },
  {
    of: 'the response that a stream completes',
    path: 'responses',
    asked: RESPONSE,
    answer: {
      headers: SSE,
      chunks: [
        events(
          { type: 'response.created', response: { model: 'gpt-5', service_tier: 'auto' } },
          {
            type: 'response.completed',
            response: {
              model: 'gpt-5',
              service_tier: 'priority',
              usage: { input_tokens: 3, output_tokens: 1 },
            },
          },
        ),
      ],
    },
    tier: 'priority',
  },
  {
    of: "the usage of Anthropic's message",
    path: 'messages',
    slug: 'claude',
    asked: MESSAGES,
    answer: { chunks: [JSON.stringify(message)] },
    tier: 'standard',
  },
  {
    of: "Anthropic's usage, in OpenAI's words where it was translated",
    slug: 'claude',
    asked: CHAT,
    answer: { chunks: [JSON.stringify(message)] },
    tier: 'default',
  },
  {
    of: "Gemini's usage",
    path: `${FLASH}:generateContent`,
    slug: 'gemini',
    asked: { ...CONTENTS, serviceTier: 'priority' },
    answer: { chunks: [JSON.stringify(gemini({ ...counts, serviceTier: 'standard' }))] },
    tier: 'standard',
  },
  {
    of: "Gemini's usage in a stream",
    path: `${FLASH}:streamGenerateContent?alt=sse`,
    slug: 'gemini',
    asked: CONTENTS,
    answer: { headers: SSE, chunks: [events(gemini({ ...counts, serviceTier: 'priority' }))] },
    tier: 'priority',
  },
  {
    of: "Gemini's usage, in OpenAI's words where it was translated",
    slug: 'gemini',
    asked: { ...CHAT, model: 'gemini-2.5-flash', service_tier: 'priority' },
    answer: { chunks: [JSON.stringify(gemini({ ...counts, serviceTier: 'standard' }))] },
    tier: 'default',
  },
  {
    of: "Gemini's usage, in OpenAI's words where a stream was translated",
    slug: 'gemini',
    asked: { ...STREAM, model: 'gemini-2.5-flash', service_tier: 'priority' },
    answer: { headers: SSE, chunks: [events(gemini({ ...counts, serviceTier: 'flex' }))] },
    tier: 'flex',
  },
  {
    of: "Gemini's header, where its usage names none",
    path: `${FLASH}:generateContent`,
    slug: 'gemini',
    asked: { ...CONTENTS, serviceTier: 'priority' },
    answer: { headers: { 'X-Gemini-Service-Tier': 'standard' }, chunks: [JSON.stringify(gemini(counts))] },
    tier: 'standard',
  },
  {
    of: "Gemini's header, where a translated answer names none",
    slug: 'gemini',
    asked: { ...CHAT, model: 'gemini-2.5-flash', service_tier: 'priority' },
    answer: { headers: { 'X-Gemini-Service-Tier': 'standard' }, chunks: [JSON.stringify(gemini(counts))] },
    tier: 'standard',
  },
  {
    of: "Gemini's request, where the answer names none",
    path: `${FLASH}:generateContent`,
    slug: 'gemini',
    asked: { ...CONTENTS, serviceTier: 'flex' },
    answer: { chunks: [JSON.stringify(gemini(counts))] },
    tier: 'flex',
  },
  {
    of: 'the request, where the answer names none',
    asked: { ...CHAT, service_tier: 'flex' },
    answer: { chunks: [JSON.stringify({ ...chat, usage })] },
    tier: 'flex',
  },
  {
    of: 'neither',
    asked: { ...CHAT, service_tier: 7 },
    answer: { chunks: [JSON.stringify({ ...chat, usage, service_tier: null })] },
    tier: null,
  },
];

describe('the tier of service in the log', () => {
  it.each(CASES)('is that of $of', async ({ path = 'chat/completions', slug, asked, answer, tier }) => {
    gateway = await aGateway({
      virtualKeys: { claude: 'anthropic', gemini: 'google' },
      answers: [answer],
    });

    const sent = await gateway.request(`/v1/${path}`, {
      method: 'POST',
      body: JSON.stringify(asked),
      headers: { 'content-type': 'application/json', 'x-gateway-virtual-key': slug ?? 'openai-prod' },
    });
    await sent.text();

    expect((await gateway.logged()).service_tier).toBe(tier);
  });
});
