import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { readHook } from '../../routing-config/guardrails/read-hooks.js';
import { type Mistake, DocumentPath } from '../../routing-config/document-path.js';
import type { Json } from '../../providers/endpoint.js';
import type { Facts } from './check.js';
import { makeCheck } from './checks/index.js';
import { Placeholders } from './placeholders.js';
import { needsWhole } from './part-filters.js';
import { type Hook, readsTexts, runHooks } from './run-hooks.js';
import { StreamGuard } from './stream-guard.js';
import { type EventFraming, framesOf } from '../framing/index.js';
import { ENDPOINT_TEXTS } from './texts/endpoint-texts.js';
import type { StreamTexts } from './texts/text-tree.js';

function hooksOf(...written: Json[]): Hook[] {
  return written.map((value, index) => {
    const mistakes: Mistake[] = [];
    const place = DocumentPath.root(mistakes, 'hook');
    const spec = readHook(value, place, { side: 'output', type: 'guardrail', id: `h${index}` });
    if (!spec) throw new Error(JSON.stringify(mistakes));
    const tools = { http: {} as never, provider: {} as never };
    const checks = spec.checks.map((check) => ({
      spec: check,
      check: makeCheck(check, tools),
      readsTexts: readsTexts(check),
    }));
    return { spec, checks };
  });
}

const factsOf = (placeholders = new Placeholders()): Facts => ({
  id: 'id',
  traceId: 'trace',
  endpoint: 'chat-completions',
  model: 'm',
  isStreamed: true,
  metadata: null,
  headers: {},
  caller: aCaller(),
  placeholders,
  request: null,
});

const CHAT = ENDPOINT_TEXTS['chat-completions']?.stream as StreamTexts;
const sse = (json: Json): string => `data: ${JSON.stringify(json)}\n\n`;
const chunk = (delta: Json, finish_reason: string | null = null): string =>
  sse({
    id: 'c',
    object: 'chat.completion.chunk',
    model: 'm',
    choices: [{ index: 0, delta, finish_reason }],
  });

/** The events of a response whose text was cut anywhere. */
const answerOf = (pieces: readonly string[]): string =>
  chunk({ role: 'assistant', content: '' }) +
  pieces.map((content) => chunk({ content })).join('') +
  chunk({}, 'stop') +
  'data: [DONE]\n\n';

function guard(hooks: readonly Hook[], texts = CHAT, facts = factsOf(), framing: EventFraming = 'sse') {
  return new StreamGuard({ hooks, texts, facts, frames: framesOf(framing), onEvent: () => undefined });
}

const eventsOf = (out: string): Json[] =>
  out
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice(6)) as Json);

const textOf = (out: string): string =>
  eventsOf(out)
    .map((event) => ((event.choices as Json[])[0]?.delta as { content?: string }).content ?? '')
    .join('');

/** The bytes are cut anywhere too, as in a network. */
function through(stream: StreamGuard, bytes: Buffer, cuts: readonly number[]): string {
  const ends = [...cuts.map((at) => at % (bytes.length + 1)), bytes.length].sort((one, other) => one - other);
  return (
    ends.map((end, index) => stream.feed(bytes.subarray(ends[index - 1] ?? 0, end))).join('') + stream.end()
  );
}

const PII = { 'default.pii': { redact: true } };
const WORDS = [
  'Apollo',
  'Ap',
  'ollo',
  ' jane@example.com',
  'jane',
  '@example',
  '.com',
  ' ',
  '4111 1111',
  ' 1111 1111',
  '\n',
  'secret',
  '\ud83d\ude00',
  '123',
  'UPPER',
];
const pieces = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 12 });
const cuts = fc.array(fc.nat(), { maxLength: 8 });

describe('StreamGuard', () => {
  it('redacts a stream cut anywhere as it redacts the whole text', async () => {
    const hooks = hooksOf(PII);
    await fc.assert(
      fc.asyncProperty(pieces, cuts, async (given, at) => {
        const whole = given.join('');
        const { matter } = await runHooks(
          hooks,
          {
            side: 'output',
            facts: factsOf(),
            json: null,
            tree: null,
            texts: { ownTexts: [whole], every: [whole] },
          },
          () => undefined,
        );
        expect(textOf(through(guard(hooks), Buffer.from(answerOf(given)), at))).toBe(
          matter.texts?.unread ? null : matter.texts?.every[0],
        );
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, Json]>([
    ['a word', { 'default.contains': { operator: 'none', words: ['Apollo', '\n'] } }],
    ['a pattern', { 'default.regexMatch': { rule: '(?i)\\bsecret\\b|^Apollo$|[0-9]{3}$', not: true } }],
    ['personal data', { 'default.pii': {} }],
    ['capitals', { 'default.alllowercase': {} }],
  ])('denies a stream cut anywhere when it denies the whole text: %s', async (_, written) => {
    const hooks = hooksOf({ ...written, deny: true });
    expect(needsWhole(hooks)).toBe(false);
    await fc.assert(
      fc.asyncProperty(pieces, cuts, async (given, at) => {
        const { isDenied } = await runHooks(
          hooks,
          {
            side: 'output',
            facts: factsOf(),
            json: null,
            tree: null,
            texts: { ownTexts: [given.join('')], every: [given.join('')] },
          },
          () => undefined,
        );
        const stream = guard(hooks);
        const out = through(stream, Buffer.from(answerOf(given)), at);
        expect(stream.isDenied).toBe(isDenied);
        if (!isDenied) expect(textOf(out)).toBe(given.join(''));
      }),
      { numRuns: 500 },
    );
  });

  it('lets nothing of what it denies out', () => {
    const stream = guard(
      hooksOf({ 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true }),
    );

    const out = ['The name is A', 'pol', 'lo, you', ' know'].map((content) =>
      stream.feed(Buffer.from(chunk({ content }))),
    );

    expect('The name is '.startsWith(textOf(out.join('')))).toBe(true);
    expect(stream.deniedBy).toBe('h0');
  });

  it('sends what waited before the event that ends the part, in an event like the last', () => {
    const out = guard(hooksOf(PII)).feed(Buffer.from(answerOf(['Write to jane@exam', 'ple.com'])));

    const events = eventsOf(out);
    expect(textOf(out)).toBe('Write to {{EMAIL_ADDRESS_1}}');
    expect((events.at(-1)?.choices as Json[])[0]).toMatchObject({ finish_reason: 'stop' });
    expect(out.endsWith('data: [DONE]\n\n')).toBe(true);
  });

  it('separates the parts of a response: choices, and the arguments of calls', () => {
    const call = (index: number, args: string): string =>
      sse({ choices: [{ index, delta: { tool_calls: [{ index: 0, function: { arguments: args } }] } }] });
    const out = guard(hooksOf(PII)).feed(
      Buffer.from(
        call(0, '{"to":"jane@') +
          call(1, '{"to":"x@y') +
          call(0, 'example.com"}') +
          call(1, '.org"}') +
          'data: [DONE]\n\n',
      ),
    );

    const texts: Record<string, string> = {};
    for (const { choices } of eventsOf(out))
      for (const { index, delta } of choices as {
        index: number;
        delta: { tool_calls: { function: { arguments: string } }[] };
      }[])
        texts[index] = (texts[index] ?? '') + (delta.tool_calls[0]?.function.arguments ?? '');
    expect(texts).toEqual({ 0: '{"to":"{{EMAIL_ADDRESS_1}}"}', 1: '{"to":"{{EMAIL_ADDRESS_2}}"}' });
  });

  it('ignores the accumulated response that a provider repeats beside each piece', () => {
    const piece = (content: string, message: string): string =>
      sse({
        object: 'chat.completion',
        choices: [{ index: 0, finish_reason: null, delta: { content }, message: { content: message } }],
      });
    const out = guard(hooksOf(PII)).feed(
      Buffer.from(
        piece('Card 4111 1111', 'Card 4111 1111') +
          piece(' 1111 1111.', 'Card 4111 1111 1111 1111.') +
          chunk({}, 'stop') +
          'data: [DONE]\n\n',
      ),
    );

    expect(out).not.toContain('1111');
    expect(out).not.toContain('message');
    expect(textOf(out)).toMatch(/^Card \{\{.+\}\}\.$/);
  });

  it('redacts reasoning, as a text beside the content or in parts of it, wherever it is cut', () => {
    const thought = (text: string): string =>
      chunk({ content: [{ type: 'thinking', thinking: [{ type: 'text', text }] }] });
    const part = (text: string): string => chunk({ content: [{ type: 'text', text }] });
    const out = guard(hooksOf(PII)).feed(
      Buffer.from(
        chunk({ reasoning: 'It is jane@' }) +
          chunk({ reasoning: 'example.com.' }) +
          thought('It is bob@') +
          thought('example.com.') +
          part('Ask eve@') +
          part('example.com.') +
          chunk({}, 'stop') +
          'data: [DONE]\n\n',
      ),
    );

    expect(out).not.toMatch(/jane|bob|eve|@/);
    expect(out.match(/EMAIL_ADDRESS_\d/g)).toEqual(['EMAIL_ADDRESS_1', 'EMAIL_ADDRESS_2', 'EMAIL_ADDRESS_3']);
  });

  it("redacts Anthropic's blocks and what OpenAI's responses repeat", () => {
    const messages = ENDPOINT_TEXTS.messages?.stream as StreamTexts;
    const delta = (text: string): string =>
      sse({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } });
    const blocks = guard(hooksOf(PII), messages).feed(
      Buffer.from(delta('I am jane@') + delta('example.com') + sse({ type: 'content_block_stop', index: 0 })),
    );
    expect(eventsOf(blocks).map(({ type }) => type)).toEqual([
      'content_block_delta',
      'content_block_delta',
      'content_block_delta',
      'content_block_stop',
    ]);
    expect(blocks).not.toContain('jane');

    const responses = ENDPOINT_TEXTS.responses?.stream as StreamTexts;
    const at = { output_index: 0, content_index: 0 };
    const text = 'I am jane@example.com';
    const out = guard(hooksOf(PII), responses).feed(
      Buffer.from(
        sse({ type: 'response.output_text.delta', ...at, delta: 'I am jane@' }) +
          sse({ type: 'response.output_text.delta', ...at, delta: 'example.com' }) +
          sse({ type: 'response.output_text.done', ...at, text }) +
          sse({
            type: 'response.output_item.done',
            output_index: 0,
            item: { type: 'message', content: [{ type: 'output_text', text }] },
          }) +
          sse({
            type: 'response.completed',
            response: { output: [{ type: 'message', content: [{ type: 'output_text', text }] }] },
          }),
      ),
    );
    expect(out).not.toContain('jane');
    expect(out.match(/I am \{\{EMAIL_ADDRESS_1\}\}/g)).toHaveLength(3);
  });

  it('gives the client its own values back, wherever the stream cuts their placeholders', () => {
    fc.assert(
      fc.property(cuts, fc.array(fc.nat(40), { maxLength: 6 }), (at, inText) => {
        const placeholders = new Placeholders();
        placeholders.of('EMAIL_ADDRESS', 'jane@example.com', true);
        const text = 'Dear {{EMAIL_ADDRESS_1}}, {{EMAIL_ADDRESS_2}}';
        const ends = [...inText, text.length].sort((one, other) => one - other);
        const given = ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
        const out = through(guard([], CHAT, factsOf(placeholders)), Buffer.from(answerOf(given)), at);
        expect(textOf(out)).toBe('Dear jane@example.com, {{EMAIL_ADDRESS_2}}');
      }),
    );
  });

  it('leaves events that it does not change as they were, byte for byte', () => {
    const given = answerOf(['Hello', ' there']);

    expect(guard(hooksOf({ 'default.wordCount': { maxWords: 1 } })).feed(Buffer.from(given))).toBe(given);
  });

  it('waits for the end where a guardrail that may deny cannot judge before', () => {
    expect(needsWhole(hooksOf({ 'default.wordCount': { maxWords: 1 }, deny: true }))).toBe(true);
    expect(needsWhole(hooksOf({ 'default.wordCount': { maxWords: 1 } }))).toBe(false);
    expect(needsWhole(hooksOf({ 'default.wordCount': { maxWords: 1 }, deny: true, async: true }))).toBe(
      false,
    );
  });
});
