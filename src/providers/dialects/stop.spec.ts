import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import type { Json } from '../endpoint.js';
import { findProvider } from '../catalog/registry.js';
import { messagesFormat } from '../client-formats/messages/index.js';
import type { Context } from '../translation.js';

const CONTEXT: Context = {
  id: 'id',
  created: 1,
  model: 'some-model',
  isStreamed: false,
  fields: {},
  isStrict: true,
};

/** The field of each dialect's stop sequences, and its maximum. */
const DIALECTS: readonly (readonly [provider: string, place: readonly string[], most: number])[] = [
  ['anthropic', ['stop_sequences'], Infinity],
  ['bedrock', ['inferenceConfig', 'stopSequences'], 2_500],
  ['cohere', ['stop_sequences'], 5],
  ['google', ['generationConfig', 'stopSequences'], 5],
  ['vertex-ai', ['generationConfig', 'stopSequences'], 5],
  ['ollama-native', ['options', 'stop'], Infinity],
];

function sent(provider: string, hub: Json): Json {
  const request = findProvider(provider).dialect.translators?.['chat-completions']?.request(hub, CONTEXT);
  return request?.body as Json;
}

const at = (body: unknown, place: readonly string[]): unknown =>
  place.reduce<unknown>((value, name) => (value as Json | undefined)?.[name], body);

const asked = (stop: unknown): Json => ({ messages: [{ role: 'user', content: 'Hi' }], max_tokens: 9, stop });

/** In the format of Anthropic's client. */
const askedInMessages = (stop_sequences: readonly string[]): Json =>
  messagesFormat.request(
    { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], stop_sequences },
    CONTEXT,
  );

function refusal(work: () => unknown): unknown {
  try {
    return work();
  } catch (thrown) {
    return thrown instanceof AppError ? [thrown.code, thrown.message] : thrown;
  }
}

describe.each(DIALECTS)('stop sequences for %s', (provider, place, most) => {
  const few = fc.array(fc.string({ minLength: 1 }), { minLength: 1, maxLength: Math.min(most, 8) });

  it('are a list in their order, also a single one, and in every client format', () => {
    fc.assert(
      fc.property(few, (stops) => {
        expect(at(sent(provider, asked(stops)), place)).toEqual(stops);
        expect(at(sent(provider, asked(stops[0])), place)).toEqual([stops[0]]);
        expect(at(sent(provider, askedInMessages(stops)), place)).toEqual(stops);
      }),
    );
  });

  it.each([null, undefined, [], '', ['']])('%j stops nothing', (stop) => {
    expect(at(sent(provider, asked(stop)), place) ?? []).toEqual([]);
  });

  it('are refused by name where there are more than the provider takes', () => {
    const many = Array.from({ length: most === Infinity ? 3_000 : most + 1 }, (_, n) => `s${n}`);
    const found = refusal(() => at(sent(provider, asked(many)), place));

    if (most === Infinity) expect(found).toEqual(many);
    else expect(found).toEqual(['parameter_unsupported', expect.stringMatching(`"stop".*at most ${most} `)]);
  });

  it.each([5, [5], {}, [['a']]])('%j is refused as wrong', (stop) => {
    expect(refusal(() => sent(provider, asked(stop)))).toEqual([
      'invalid_request',
      expect.stringContaining('"stop"'),
    ]);
  });
});

it.each(['END', 5, [5], {}])("Anthropic's client cannot request %j", (stop_sequences) => {
  expect(refusal(() => askedInMessages(stop_sequences as unknown as string[]))).toEqual([
    'invalid_request',
    expect.stringContaining('"stop_sequences"'),
  ]);
});
