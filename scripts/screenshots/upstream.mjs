/** A local provider in the formats of OpenAI and Anthropic. It answers support questions, and can be told to return rate limit errors. */
import { createServer } from 'node:http';

/** Used with a long context, so that its responses cost about a dollar. */
export const LONG_MODEL = 'gpt-5-pro';

export const QUESTION =
  'A customer was charged twice for order 4711. Draft a reply and say what I should check first.';

const ANSWER = `Check the payment log first: two captures with the same authorization id are one charge that the bank shows twice, and the second one disappears within three days.

**Draft**

Hello Ms Lindqvist,

thank you for writing to us. Order 4711 was authorized twice, but only one payment was captured. Your bank releases the second amount by Friday. If it has not, reply to this message and we will refund it the same day.

Kind regards
Support`;

const LATENCY_MS = 120;
const JSON_TYPE = { 'content-type': 'application/json' };

/** Starts it. `limit(n)` refuses the next n calls in OpenAI's format. */
export async function startUpstream() {
  let refusals = 0;
  const server = createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = JSON.parse(Buffer.concat(chunks).toString() || '{}');
      const isAnthropic = request.url.endsWith('/messages');
      if (!isAnthropic && refusals > 0) {
        refusals -= 1;
        response.writeHead(429, { ...JSON_TYPE, 'retry-after-ms': '150' });
        response.end(JSON.stringify(LIMITED));
        return;
      }
      setTimeout(() => {
        response.writeHead(200, JSON_TYPE);
        response.end(JSON.stringify(isAnthropic ? anthropic(body) : openai(body)));
      }, LATENCY_MS);
    });
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: server.address().port,
    limit: (count) => (refusals = count),
    close: () => new Promise((resolve) => server.close(resolve)),
  };
}

const LIMITED = {
  error: { message: 'Rate limit reached for requests', type: 'requests', code: 'rate_limit_exceeded' },
};

const USAGE = {
  prompt_tokens: 1_212,
  completion_tokens: 310,
  total_tokens: 1_522,
  prompt_tokens_details: { cached_tokens: 768 },
};
const LONG_USAGE = { prompt_tokens: 41_208, completion_tokens: 3_984, total_tokens: 45_192 };

const openai = ({ model }) => ({
  id: 'chatcmpl-demo',
  object: 'chat.completion',
  created: Math.floor(Date.now() / 1_000),
  model,
  choices: [
    { index: 0, message: { role: 'assistant', content: ANSWER, refusal: null }, finish_reason: 'stop' },
  ],
  usage: model === LONG_MODEL ? LONG_USAGE : USAGE,
});

const anthropic = ({ model }) => ({
  id: 'msg_demo',
  type: 'message',
  role: 'assistant',
  model,
  content: [{ type: 'text', text: ANSWER }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: {
    input_tokens: 1_180,
    output_tokens: 296,
    cache_read_input_tokens: 640,
    cache_creation_input_tokens: 0,
  },
});
