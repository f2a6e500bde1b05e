import { describe, expect, it } from 'vitest';
import type { Json } from '../../../providers/endpoint.js';
import { findTexts } from './body-walk.js';
import { ENDPOINT_TEXTS } from './endpoint-texts.js';
import { type StreamTexts, textTree, type TextTree } from './text-tree.js';

/** The texts of messages, according to the tables. */
function textsOf(body: Json, tree: TextTree | null): string[] {
  const read = findTexts(body, tree ?? textTree());
  if (read.unread) throw new Error(read.unread);
  return read.found.flatMap(({ text, kind }) => (kind === 'beside' ? [] : [text]));
}

describe("guardrails read Cohere's own format", () => {
  const chat = ENDPOINT_TEXTS['chat-v2'];

  it('in requests and responses', () => {
    const call = { function: { name: 'f', arguments: '{"city":"Rome"}' } };
    const asked = {
      messages: [
        { role: 'system', content: 'rule' },
        { role: 'user', content: [{ type: 'text', text: 'question' }] },
        { role: 'assistant', tool_plan: 'plan', tool_calls: [call] },
        { role: 'tool', content: [{ type: 'document', document: { data: { text: 'found' } } }] },
      ],
      documents: ['note', { data: { title: 'paper' } }],
    };
    const content = [
      { type: 'thinking', thinking: 'hm' },
      { type: 'text', text: 'yes' },
    ];

    expect(chat && textsOf(asked, chat.request)).toEqual([
      'rule',
      'question',
      'plan',
      '{"city":"Rome"}',
      'found',
      'note',
      'paper',
    ]);
    const { answer } = chat ?? {};
    expect(answer && textsOf({ message: { content, tool_plan: 'plan' } }, answer)).toEqual([
      'hm',
      'yes',
      'plan',
    ]);
  });

  it('in streams, part by part', () => {
    const stream = chat?.stream as StreamTexts;
    const events = [
      { type: 'content-start', index: 0, delta: { message: { content: { type: 'text', text: '' } } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text: 'yes' } } } },
      { type: 'content-end', index: 0 },
      {
        type: 'tool-call-delta',
        index: 0,
        delta: { message: { tool_calls: { function: { arguments: '{' } } } },
      },
      { type: 'tool-call-end', index: 0 },
      { type: 'message-end', delta: {} },
    ];

    expect(events.map((event) => textsOf(event, stream.tree).join(''))).toEqual(['', 'yes', '', '{', '', '']);
    expect(events.map((event) => stream.endsOf(event))).toEqual([
      null,
      null,
      ['0/content/'],
      null,
      ['0/tool-call/'],
      [''],
    ]);
    const [start, delta, , call] = events.map((event) => stream.partOf(event, ''));
    expect([start, delta, call]).toEqual(['0/content/', '0/content/', '0/tool-call/']);
  });
});

describe('guardrails read of chats, wherever a provider puts it,', () => {
  const chat = ENDPOINT_TEXTS['chat-completions'];
  const message = {
    content: [
      { type: 'thinking', thinking: [{ type: 'text', text: 'thought' }] },
      { type: 'text', text: 'said' },
    ],
    reasoning: 'why',
    reasoning_details: [{ type: 'reasoning.text', text: 'text' }, { summary: 'sum' }],
    tool_calls: [{ type: 'custom', custom: { name: 'f', input: 'called' } }],
    audio: { id: 'a', data: 'AAAA', transcript: 'spoken' },
  };
  const texts = ['called', 'said', 'spoken', 'sum', 'text', 'thought', 'why'];

  it('what was reasoned, called and spoken', () => {
    const of = (body: Json, tree: TextTree | null | undefined) => tree && textsOf(body, tree).sort();

    expect(of({ messages: [message] }, chat?.request)).toEqual(texts);
    expect(of({ choices: [{ message }] }, chat?.answer)).toEqual(texts);
    expect(of({ choices: [{ delta: message }] }, chat?.stream.tree)).toEqual(texts);
  });

  it('the reasoning that clients keep in blocks', () => {
    const messages = [{ content_blocks: [{ thinking: 'a' }, { text: 'b' }], content: [{ thinking: 'c' }] }];

    expect(chat && textsOf({ messages }, chat.request).sort()).toEqual(['a', 'b', 'c']);
  });
});

it("guardrails read what Mistral's gaps are filled with", () => {
  const gap = ENDPOINT_TEXTS['fim-completions'];
  const answer = { choices: [{ message: { content: 'return 1' } }] };

  expect(gap && textsOf({ prompt: 'f() {', suffix: '}' }, gap.request)).toEqual(['f() {', '}']);
  expect(gap?.answer && textsOf(answer, gap.answer)).toEqual(['return 1']);
});

it('guardrails read what documents say, wherever a response says it', () => {
  const { request, answer } = ENDPOINT_TEXTS.ocr ?? {};
  const word = (text: string) => ({ text, confidence: 0.9, start_index: 0 });
  const page = {
    index: 0,
    markdown: '# Tides',
    header: 'head',
    footer: 'foot',
    hyperlinks: ['https://example.com'],
    tables: [{ id: 't-0', format: 'html', content: '<td>1', word_confidence_scores: [word('1')] }],
    blocks: [{ type: 'title', content: 'Tides' }],
    images: [{ id: 'i-0', image_base64: 'AAAA', image_annotation: '{"a":1}' }],
    confidence_scores: { word_confidence_scores: [word('Tides')] },
  };

  expect(request && textsOf({ model: 'm', document_annotation_prompt: 'sum it up' }, request)).toEqual([
    'sum it up',
  ]);
  expect(answer && [...textsOf({ document_annotation: '{"b":2}', pages: [page] }, answer)].sort()).toEqual(
    [
      '{"b":2}',
      '# Tides',
      'head',
      'foot',
      'https://example.com',
      '<td>1',
      '1',
      'Tides',
      '{"a":1}',
      'Tides',
    ].sort(),
  );
});
