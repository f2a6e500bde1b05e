import Anthropic from '@anthropic-ai/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAST_WORDS, SIGNATURE, USAGE } from '../../support/upstreams/strict/scene.js';
import { firstRequest, HEADERS, nextRequest, thirdRequest, type THINKING } from './recorded/claude-code.js';
import { type Place, PLACES, StrictPlaces } from './strict-places.js';

/** Claude Code, played with the client that it uses itself, against providers that check what they document. */
let places: StrictPlaces;
beforeAll(async () => {
  places = await StrictPlaces.create('claude code');
});
afterAll(() => places.close());

const clientFor = ({ provider }: Place) =>
  new Anthropic({
    apiKey: 'unused',
    baseURL: places.root,
    maxRetries: 0,
    // Without it the client refuses to wait for long answers that are not streamed.
    timeout: 60_000,
    defaultHeaders: { ...HEADERS, ...places.headersFor(provider) },
  });

/** The models that take each kind of thinking natively. */
const THOUGHTS: Readonly<Record<string, readonly (keyof typeof THINKING)[]>> = {
  'claude-opus-4-8': ['adaptive', 'off'],
  'claude-sonnet-4-5': ['budget', 'off'],
};
const CASES = PLACES.flatMap((place) =>
  (THOUGHTS[place.model] ?? (['adaptive', 'budget', 'off'] as const)).flatMap((thinking) =>
    [true, false].map((isStreamed) => ({ place, ...place, thinking, isStreamed })),
  ),
);

it.each(CASES)(
  'Claude Code works with $model of $provider, thinking $thinking, streamed $isStreamed',
  async ({ place, model, thinking, isStreamed }) => {
    const { messages } = clientFor(place).beta;
    const ask = (request: ReturnType<typeof firstRequest>) =>
      isStreamed ? messages.stream(request).finalMessage() : messages.create(request);

    const first = firstRequest(model, thinking);
    const called = await ask(first);
    const uses = called.content.filter((block) => block.type === 'tool_use');
    expect(called.stop_reason).toBe('tool_use');
    expect(uses.map(({ name, input }) => [name, input])).toEqual([
      ['Bash', { city: 'Rome' }],
      ['Read', { city: 'Oslo' }],
    ]);
    expect(new Set(uses.map(({ id }) => id)).size).toBe(2);
    const thoughts = called.content.filter((block) => block.type === 'thinking');
    if (place.signs && thinking !== 'off')
      expect(thoughts.map(({ signature }) => signature)).toEqual([SIGNATURE]);
    expect(called.usage).toMatchObject({
      cache_read_input_tokens: USAGE.cached,
      cache_creation_input_tokens: place.countsWrites ? USAGE.written : 0,
      input_tokens: USAGE.input - USAGE.cached - (place.countsWrites ? USAGE.written : 0),
      output_tokens: USAGE.output,
    });

    const second = nextRequest(first, called.content);
    const answered = await ask(second);
    expect(answered.stop_reason).toBe('end_turn');
    expect(answered.content.at(-1)).toMatchObject({ type: 'text', text: LAST_WORDS });

    const third = await ask(thirdRequest(second, answered.content));
    expect(third.stop_reason).toBe('end_turn');
    places.checkAccepted(3);
  },
);

describe('Claude Code', () => {
  it.each(PLACES.filter(({ provider }) => provider !== 'openai' && provider !== 'bedrock'))(
    'counts tokens at $model',
    async (place) => {
      const { system, messages, tools } = firstRequest(place.model, 'off');
      const counted = await clientFor(place).beta.messages.countTokens({
        model: place.model,
        system,
        messages,
        tools,
        betas: HEADERS['anthropic-beta'].split(','),
      });

      expect(counted.input_tokens).toBe(USAGE.input);
      places.checkAccepted(1);
    },
  );

  it('finds the gateway by HEAD /', async () => {
    const { status } = await fetch(places.root, { method: 'HEAD', headers: { 'user-agent': 'Bun/1.4.0' } });

    expect(status).toBeLessThan(500);
  });
});
