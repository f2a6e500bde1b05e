import { createAnthropic } from '@ai-sdk/anthropic';
import { createGoogleGenerativeAI } from '@ai-sdk/google';
import { createOpenAI } from '@ai-sdk/openai';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { ChatAnthropic } from '@langchain/anthropic';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import { generateText, type LanguageModel, stepCountIs, streamText, tool } from 'ai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { LAST_WORDS, USAGE } from '../../support/upstreams/strict/scene.js';
import { PIXEL, type Place, PLACES, StrictPlaces } from './strict-places.js';

/** The AI SDK and LangChain, unmodified, with a tool, an image and streams, against providers that check what they document. */
let places: StrictPlaces;
beforeAll(async () => {
  places = await StrictPlaces.create('sdks');
});
afterAll(() => places.close());

const schema = z.object({ city: z.string() });
const settings = ({ provider }: Place) => ({
  apiKey: 'unused',
  baseURL: `${places.root}/v1`,
  headers: places.headersFor(provider),
});

describe('the AI SDK', () => {
  const models: Readonly<Record<string, (place: Place) => LanguageModel>> = {
    'chat completions': (place) => createOpenAI(settings(place)).chat(place.model),
    responses: (place) => createOpenAI(settings(place)).responses(place.model),
    messages: (place) => createAnthropic(settings(place))(place.model),
    'the compatible format': (place) =>
      createOpenAICompatible({ ...settings(place), name: 'gatehouse', includeUsage: true })(place.model),
  };
  const weather = tool({ description: 'The weather of a city', inputSchema: schema, execute: () => 'sunny' });
  const asked = (model: LanguageModel) => ({
    model,
    maxRetries: 0,
    system: 'Help.',
    tools: { weather },
    stopWhen: stepCountIs(4),
    // The AI SDK stores responses unless it is told not to, which only OpenAI can.
    providerOptions: { openai: { store: false } },
    messages: [
      {
        role: 'user' as const,
        content: [
          { type: 'text' as const, text: 'What is the weather?' },
          { type: 'image' as const, image: Buffer.from(PIXEL, 'base64'), mediaType: 'image/png' },
        ],
      },
    ],
  });
  const CASES = Object.keys(models).flatMap((format) => PLACES.map((place) => ({ ...place, format, place })));

  it.each(CASES)('calls tools by $format at $model of $provider', async ({ format, place }) => {
    const model = models[format]?.(place);
    if (!model) throw new Error(`No such format: ${format}`);
    const { text, steps, finishReason } = await generateText(asked(model));

    expect([text, finishReason]).toEqual([LAST_WORDS, 'stop']);
    expect(steps[0]?.toolCalls.map(({ input }) => input)).toEqual([{ city: 'Rome' }, { city: 'Oslo' }]);
    expect(steps[0]?.usage).toMatchObject({
      outputTokens: USAGE.output,
      inputTokenDetails: { cacheReadTokens: USAGE.cached },
    });

    const streamed = streamText(asked(model));
    expect(await streamed.text).toContain(LAST_WORDS);
    expect(await streamed.finishReason).toBe('stop');
    places.checkAccepted(4);
  });

  it('calls tools of Google by its own format', async () => {
    const [place] = PLACES.filter(({ model }) => model === 'gemini-3-pro-preview');
    if (!place) throw new Error('No Gemini.');
    const google = createGoogleGenerativeAI({ ...settings(place), baseURL: `${places.root}/v1beta` });
    const { text } = await generateText(asked(google(place.model)));

    expect(text).toBe(LAST_WORDS);
    places.checkAccepted(2);
  });
});

describe('LangChain', () => {
  const models: Readonly<Record<string, (place: Place) => ChatOpenAI | ChatAnthropic>> = {
    ChatOpenAI: (place) =>
      new ChatOpenAI({
        apiKey: 'unused',
        model: place.model,
        maxRetries: 0,
        configuration: { baseURL: `${places.root}/v1`, defaultHeaders: places.headersFor(place.provider) },
      }),
    ChatAnthropic: (place) =>
      new ChatAnthropic({
        apiKey: 'unused',
        model: place.model,
        maxRetries: 0,
        anthropicApiUrl: places.root,
        clientOptions: { defaultHeaders: places.headersFor(place.provider) },
      }),
  };
  const CASES = Object.keys(models).flatMap((client) => PLACES.map((place) => ({ ...place, client, place })));
  const weather = { name: 'weather', description: 'The weather of a city', schema };

  it.each(CASES)('$client calls tools at $model of $provider', async ({ client, place }) => {
    const model = models[client]?.(place).bindTools([weather]);
    if (!model) throw new Error(`No such client: ${client}`);
    const image = { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } };
    const question = new HumanMessage({ content: [{ type: 'text', text: 'What is the weather?' }, image] });
    const called = await model.invoke([question]);
    expect(called.tool_calls?.map(({ args }) => args)).toEqual([{ city: 'Rome' }, { city: 'Oslo' }]);

    const results = (called.tool_calls ?? []).map(
      ({ id }) => new ToolMessage({ content: 'sunny', tool_call_id: id ?? '' }),
    );
    let text = '';
    for await (const chunk of await model.stream([question, called as AIMessage, ...results]))
      text += chunk.text;
    expect(text).toBe(LAST_WORDS);
    places.checkAccepted(2);
  });
});
