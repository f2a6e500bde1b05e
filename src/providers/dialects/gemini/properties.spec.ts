import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../common/errors/app-error.js';
import type { Context, Translator } from '../../translation.js';
import { gemini, vertex } from './index.js';

const translators = [gemini, vertex].flatMap(({ translators: own = {} }) => Object.values(own));
const chats = [gemini, vertex].map(({ translators: own }) => own?.['chat-completions']) as Translator[];

const contextFor = (model: string, isStrict = true): Context => ({
  id: 'exchange-1',
  created: 1,
  model,
  isStreamed: false,
  fields: {},
  isStrict,
});

/** JSON whose objects have the names that the translators read, with values of any type. */
const NAMES = `
  candidates content parts text thought thoughtSignature functionCall name args id inlineData
  mimeType data fileData fileUri finishReason finishMessage index error groundingMetadata
  groundingChunks groundingSupports segment startIndex endIndex partIndex groundingChunkIndices web
  uri title logprobsResult chosenCandidates topCandidates token logProbability usageMetadata
  promptTokenCount candidatesTokenCount promptFeedback blockReason embedding embeddings values
  predictions statistics token_count message status details reason fieldViolations field
  citationMetadata citationSources __proto__ constructor toString valueOf toJSON length
`
  .trim()
  .split(/\s+/);

const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 7, depthSize: 'medium' },
    fc.constantFrom(0, 1, -1, 1.5, 'STOP', 'image/png', 'audio/wav', '', 'ü', true, null),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('json'), { maxKeys: 5 }),
  ),
}));
const object = fc.dictionary(fc.constantFrom(...NAMES), json, { maxKeys: 6 });

/** Responses of the right outline, with any content. */
const answer = fc.oneof(
  object,
  fc.record({
    candidates: fc.array(
      fc.record({
        content: fc.record({ parts: fc.array(object, { maxLength: 4 }) }),
        groundingMetadata: object,
      }),
    ),
    usageMetadata: object,
  }),
);

describe('whatever the provider sends', () => {
  it('a response is translated without a failure', () => {
    fc.assert(
      fc.property(answer, fc.boolean(), (body, isStrict) => {
        for (const translator of translators) {
          const hub = translator.answer(body, contextFor('m', isStrict));
          expect(() => JSON.stringify(hub)).not.toThrow();
        }
      }),
    );
  });

  it('a refusal is translated without a failure, and always says something', () => {
    fc.assert(
      fc.property(fc.integer({ min: 100, max: 599 }), fc.option(object), (status, body) => {
        for (const translator of translators) {
          expect(translator.error(status, body).message).not.toBe('');
        }
      }),
    );
  });

  it('a stream is translated without a failure', () => {
    const data = fc.oneof(
      fc.string(),
      answer.map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(fc.array(data, { maxLength: 6 }), fc.boolean(), (events, isStrict) => {
        const stream = gemini.translators?.['chat-completions']?.stream?.open(contextFor('m', isStrict));
        for (const event of events)
          expect(stream?.event({ event: null, data: event }).chunks).toBeInstanceOf(Array);
        expect(stream?.end().chunks).toBeInstanceOf(Array);
      }),
    );
  });
});

const words = fc.stringMatching(/^[a-z]{3,12}$/);
const call = fc.record({
  id: words,
  type: fc.constant('function'),
  function: fc.record({ name: words, arguments: fc.oneof(fc.json(), fc.string()) }),
});
const content = fc.oneof(
  words,
  fc.array(
    fc.oneof(
      words.map((text) => ({ type: 'text', text })),
      fc.constant({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }),
    ),
    {
      maxLength: 3,
    },
  ),
);
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('system', 'developer', 'user'), content }),
  fc.record(
    {
      role: fc.constant('assistant'),
      content: fc.oneof(content, fc.constant(null)),
      tool_calls: fc.array(call, { maxLength: 3 }),
    },
    { requiredKeys: ['role', 'content'] },
  ),
  fc.record({ role: fc.constant('tool'), tool_call_id: words, content }),
);

interface GeminiPart {
  readonly text?: string;
  readonly functionCall?: { readonly name: string };
  readonly functionResponse?: { readonly response: { readonly output: string } };
}

interface GeminiRequestBody {
  readonly contents: readonly { readonly role: string; readonly parts: readonly GeminiPart[] }[];
  readonly systemInstruction?: { readonly parts: readonly GeminiPart[] };
}

const textsOf = (given: unknown): string[] => {
  if (typeof given === 'string') return [given];
  return Array.isArray(given) ? (given as { text?: string }[]).flatMap(({ text }) => text ?? []) : [];
};

describe('whatever a client says', () => {
  const models = fc.constantFrom('gemini-2.5-flash', 'gemini-3-flash-preview');

  it('roles alternate, no content is empty, and every text and call arrives', () => {
    fc.assert(
      fc.property(fc.array(message, { maxLength: 12 }), models, (messages, model) => {
        for (const chat of chats) {
          const body = chat.request({ messages }, contextFor(model)).body as unknown as GeminiRequestBody;
          const roles = body.contents.map(({ role }) => role);
          expect(roles.every((role, at) => ['user', 'model'].includes(role) && role !== roles[at - 1])).toBe(
            true,
          );
          expect(body.contents.every(({ parts }) => parts.length > 0)).toBe(true);

          const parts = [
            ...body.contents.flatMap((one) => one.parts),
            ...(body.systemInstruction?.parts ?? []),
          ];
          const said = parts.flatMap(
            ({ text, functionResponse }) => text ?? functionResponse?.response.output.split('\n') ?? [],
          );
          const given = messages.flatMap((one) => textsOf(one.content));
          expect(said.filter((text) => text !== '').sort()).toEqual(given.sort());

          const called = parts.flatMap(({ functionCall }) => functionCall?.name ?? []);
          expect(called).toEqual(
            messages.flatMap((one) =>
              ('tool_calls' in one ? (one.tool_calls ?? []) : []).map((made) => made.function.name),
            ),
          );
        }
      }),
    );
  });

  it('only the documented refusals are thrown', () => {
    const key = fc.constantFrom(
      ...'messages tools tool_choice response_format stop thinking reasoning_effort audio input modalities extra_body generationConfig functions logit_bias __proto__'.split(
        ' ',
      ),
    );
    const inner = fc.constantFrom(
      ...'role content type text image_url url file file_data file_id input_audio data tool_calls function name arguments parameters json_schema schema google tool_call_id allowed_tools tools extra_content'.split(
        ' ',
      ),
    );
    const value = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(
          0,
          '',
          'x',
          'text',
          'user',
          'assistant',
          'tool',
          'system',
          'image_url',
          'file',
          'json_schema',
          'constructor',
          null,
          true,
          'data:,%',
        ),
        fc.array(tie('value'), { maxLength: 3 }),
        fc.dictionary(inner, tie('value'), { maxKeys: 4 }),
      ),
    })).value;
    fc.assert(
      fc.property(fc.dictionary(key, value), fc.oneof(fc.string(), models), (hub, model) => {
        for (const translator of translators) {
          try {
            translator.request(hub, contextFor(model));
          } catch (error) {
            expect(error).toBeInstanceOf(AppError);
            const { code, message } = error as AppError;
            // A value that the hub's own format does not allow is invalid for every provider.
            expect(code === 'invalid_request' ? message : code).toMatch(
              /^parameter_unsupported$|"stop" must be/,
            );
          }
        }
      }),
    );
  });
});
