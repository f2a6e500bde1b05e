import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LAST_WORDS, SIGNATURE, USAGE } from '../../support/upstreams/strict/scene.js';
import {
  firstRequest,
  HEADERS,
  type Item,
  nextRequest,
  type Request,
  thirdRequest,
  WEB_SEARCH,
} from './recorded/codex.js';
import { after, fullRequest, liteRequest } from '../../support/codex-requests.js';
import { type Place, PLACES, StrictPlaces } from './strict-places.js';

/** Codex CLI by the Responses API, against providers that check what they document. */
let places: StrictPlaces;
beforeAll(async () => {
  places = await StrictPlaces.create('codex');
});
afterAll(() => places.close());

/** Events that Codex reads or skips. https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs */
const EVENTS =
  /^response\.(created|in_progress|completed|output_item\.(added|done)|content_part\.(added|done)|output_text\.(delta|done)|function_call_arguments\.(delta|done)|custom_tool_call_input\.(delta|done)|reasoning_summary_part\.(added|done)|reasoning_summary_text\.(delta|done)|reasoning_text\.(delta|done))$/;

interface Event {
  readonly type: string;
  readonly item?: Item;
  readonly response?: { readonly usage?: unknown };
}

const send = (place: Place, request: object): Promise<Response> =>
  fetch(`${places.root}/v1/responses`, {
    method: 'POST',
    headers: { ...HEADERS, ...places.headersFor(place.provider) },
    body: JSON.stringify(request),
  });

async function ask(place: Place, request: Request): Promise<{ items: readonly Item[]; usage: unknown }> {
  const answer = await send(place, request);
  const body = await answer.text();
  expect(`${answer.status} ${answer.ok ? '' : body}`).toBe('200 ');
  const lines = body.split('\n').filter((line) => line.startsWith('data: '));
  const events = lines.map((line) => JSON.parse(line.slice('data: '.length)) as Event);
  expect(events.map(({ type }) => type).filter((type) => !EVENTS.test(type))).toEqual([]);
  expect(events.at(-1)?.type).toBe('response.completed');
  const items = events.flatMap(({ type, item }) =>
    type === 'response.output_item.done' && item ? [item] : [],
  );
  return { items, usage: events.at(-1)?.response?.usage };
}

const callsIn = (items: readonly Item[]) => items.filter(({ type }) => type === 'function_call');

describe('Codex CLI', () => {
  it.each(PLACES)('works with $model of $provider', async (place) => {
    const first = firstRequest(place.model);
    const called = await ask(place, first);
    expect(
      callsIn(called.items).map(({ namespace, name, arguments: input }) => [namespace, name, input]),
    ).toEqual([
      [undefined, 'exec_command', '{"city":"Rome"}'],
      ['multi_agent_v1', 'close_agent', '{"city":"Oslo"}'],
    ]);
    expect(new Set(callsIn(called.items).map(({ call_id }) => call_id)).size).toBe(2);
    expect(called.usage).toMatchObject({
      input_tokens: USAGE.input,
      input_tokens_details: { cached_tokens: USAGE.cached },
      output_tokens: USAGE.output,
    });

    const second = nextRequest(first, called.items);
    const answered = await ask(place, second);
    expect(callsIn(answered.items)).toEqual([]);
    expect(answered.items.at(-1)).toMatchObject({ type: 'message', content: [{ text: LAST_WORDS }] });

    await ask(place, thirdRequest(second, answered.items));
    places.checkAccepted(3);
  });

  it.each(PLACES)('thinks with $model of $provider and gives its thoughts back', async (place) => {
    const first = { ...firstRequest(place.model), reasoning: { effort: 'medium', summary: 'auto' } };
    if (place.model === 'gpt-4o') return;
    const called = await ask(place, first);
    if (place.signs) expect(called.items.map(({ type }) => type)).toContain('reasoning');

    await ask(place, nextRequest(first, called.items));
    places.checkAccepted(2);
  });

  it('returns the signature of Gemini 3’s tool call to it, and not the placeholder', async () => {
    const place = PLACES.find(({ model }) => model.startsWith('gemini-3'));
    if (!place) throw new Error('No Gemini 3.');
    const first = firstRequest(place.model);
    const called = await ask(place, first);
    const second = nextRequest(first, called.items);
    const before = second.input[second.input.findIndex(({ type }) => type === 'function_call') - 1];
    expect(before).toMatchObject({ type: 'reasoning', encrypted_content: expect.any(String) as string });

    await ask(place, second);
    const { contents } = places.checked.at(-1)?.body as { contents: readonly { parts: readonly Item[] }[] };
    const calls = contents.flatMap(({ parts }) => parts.filter((part) => 'functionCall' in part));
    expect(calls.map(({ thoughtSignature }) => thoughtSignature)).toEqual([SIGNATURE, undefined]);
    places.checkAccepted(2);
  });

  it.each(PLACES.filter(({ provider }) => provider !== 'openai'))(
    'goes without the search of the web that $model of $provider does not have, and learns that',
    async (place) => {
      const { tools, ...rest } = firstRequest(place.model);
      const answer = await send(place, { ...rest, tools: [...tools, WEB_SEARCH] });

      expect([answer.status, answer.headers.get('x-gateway-dropped-parameters')]).toEqual([
        200,
        'tools.web_search',
      ]);
      await answer.text();
      places.checkAccepted(1);
    },
  );

  it.each(PLACES.flatMap((place) => [liteRequest, fullRequest].map((shape) => ({ ...place, shape }))))(
    'works with $model of $provider as with a model that it knows: $shape.name',
    async ({ shape, ...place }) => {
      if (place.provider === 'openai') return;
      const first = shape(place.model);
      const called = await ask(place, first as unknown as Request);
      const calls = called.items.filter(({ type }) => String(type).endsWith('_call'));
      expect(calls.length).toBeGreaterThanOrEqual(1);

      const results = calls.map(({ type, call_id }) =>
        type === 'tool_search_call'
          ? { type: 'tool_search_output', call_id, execution: 'client', tools: [] }
          : { type: `${String(type)}_output`, call_id, output: 'sunny' },
      );
      await ask(place, after(first, ...called.items, ...results) as unknown as Request);
      places.checkAccepted(2);
    },
  );
});
