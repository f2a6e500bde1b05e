import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BodyTexts, bodyTexts, NO_TEXTS, withTexts } from './body-texts.js';
import { DEEPEST, findTexts, rewriteTexts } from './body-walk.js';
import { textTree } from './text-tree.js';

const tree = textTree('messages[].content', 'messages[].content[].text', 'messages[].args.**', 'prompt');
const read = (body: unknown): BodyTexts => {
  const texts = bodyTexts(body, tree);
  expect(texts.unread).toBeUndefined();
  return texts.unread ? NO_TEXTS : texts;
};
const said = (body: unknown): readonly string[] => read(body).ownTexts;
const every = (body: unknown): readonly string[] => read(body).every;
const nested = (levels: number, inner: unknown): unknown => {
  let value = inner;
  for (let depth = 0; depth < levels; depth++) value = depth % 2 === 0 ? [value] : { args: value };
  return value;
};

/** Every string of a value, found by another algorithm than the one under test. */
function stringsIn(value: unknown): string[] {
  const strings: string[] = [];
  JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner === 'string') strings.push(inner);
    return inner;
  });
  return strings;
}

describe('the texts of a body', () => {
  it('are all strings whose member is not known to hold something else', () => {
    fc.assert(
      fc.property(fc.record({ prompt: fc.jsonValue(), anything: fc.jsonValue() }), (given) => {
        const read = findTexts(given, tree);
        // A prompt of numbers stands for a text that cannot be read.
        if (read.unread) return;
        const found = read.found.map(({ text }) => text);
        for (const text of stringsIn(given)) if (/[ @]/.test(text)) expect(found).toContain(text);
      }),
    );
  });

  it('can be written back, each in its own place', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (given) => {
        const body = { prompt: 'p', given };
        const marked = rewriteTexts(body, tree, ({ text }) => `${text}!`);

        expect(every(marked)).toEqual(every(body).map((text) => `${text}!`));
        expect(withTexts(body, tree, every(body))).toBe(body);
      }),
    );
  });

  it('appear where the endpoint has its texts, and beside them elsewhere', () => {
    const body = {
      model: 'gpt',
      prompt: 'a',
      messages: [{ role: 'user', id: 'm_1', content: [{ type: 'text', text: 'b' }] }],
      tools: [{ type: 'function', description: 'c' }],
    };

    expect(said(body)).toEqual(['a', 'b']);
    expect(every(body)).toEqual(['a', 'b', 'c']);
  });

  it('include everything below a place that the interface leaves open, names and numbers too', () => {
    const body = { messages: [{ args: { type: 'a', id: ['b', { model: 4111111111111111 }] } }] };

    expect(every(body)).toEqual(['type', 'a', 'id', 'b', 'model', '4111111111111111']);
    expect(rewriteTexts(body, tree, ({ text }) => (/^4/.test(text) ? '{{CARD}}' : text))).toEqual({
      messages: [{ args: { type: 'a', id: ['b', { model: '{{CARD}}' }] } }],
    });
  });

  it.each([
    ['names of parameters', { parameters: { properties: { 'the name': { type: 'string' } } } }, ['the name']],
    ['metadata', { metadata: { type: 'x' } }, ['type', 'x']],
    [
      'sentences in place of an identifier',
      { id: 'who is it', user_id: 'joe@example.com' },
      ['who is it', 'joe@example.com'],
    ],
    [
      'identifiers and enumerations',
      { id: 'call_1', tool_call_id: 'c', role: 'user', finish_reason: 'stop' },
      [],
    ],
    ['pictures', { image_url: { url: 'data:image/png;base64,AAAA' }, b64_json: 'A'.repeat(64) }, []],
    ['texts in base64', { mimeType: 'text/plain', data: 'QXBvbGxv' }, ['Apollo']],
    ['data URLs of texts', { url: 'data:text/plain;base64,QXBvbGxv' }, ['Apollo']],
    [
      'texts that only look like base64',
      { type: 'text', media_type: 'text/plain', data: 'Apollo' },
      ['Apollo'],
    ],
    ['addresses', { url: 'https://example.com/Apollo' }, ['https://example.com/Apollo']],
  ])('know %s', (_, body, texts) => {
    expect(every(body)).toEqual(texts);
  });

  it('are read at any depth that can be written again, and changed there', () => {
    const body = { messages: [{ args: nested(DEEPEST - 3, 'the text') }] };

    expect(every(body)).toContain('the text');
    const changed = withTexts(
      body,
      tree,
      every(body).map((text) => text.replace('text', '{{TEXT}}')),
    );
    expect(JSON.stringify(changed)).toContain('the {{TEXT}}');
  });

  it.each([DEEPEST, 200_000])('are unread below, %i levels down', (levels) => {
    expect(findTexts({ elsewhere: nested(levels, 'text') }, tree)).toMatchObject({ unread: 'depth' });
  });

  it.each([
    ['a list of numbers', { prompt: [1, 2] }, 'prompt[0]'],
    ['lists of numbers', { prompt: [[1, 2], [3]] }, 'prompt[0][0]'],
    ['token ids beside the prompt', { prompt: '', prompt_token_ids: [1] }, 'prompt_token_ids[0]'],
    ['vectors', { prompt_embeds: 'AAAA' }, 'prompt_embeds'],
  ])('are unread in a prompt that is %s', (_, body, where) => {
    expect(findTexts(body, tree)).toEqual({ unread: 'tokens', where });
  });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const LONG = 'a plan of Apollo, at length, that fills more than a line of sixty-four characters';

describe('a text file', () => {
  it.each([
    ['by its name', { filename: 'a.txt', file_data: base64('Apollo') }],
    ['by its bytes', { file_data: base64(LONG) }],
    ['in spite of its name', { filename: 'a.png', file_data: base64(LONG) }],
    ['in spite of its type', { mimeType: 'image/png', data: base64(LONG) }],
    ['as octets', { mimeType: 'application/octet-stream', data: base64(LONG) }],
    ['in a data URL without a type', { file_data: `data:;base64,${base64('Apollo')}` }],
    ['with parameters', { file_data: `data:text/plain;charset=utf-8;base64,${base64('Apollo')}` }],
    ['with line breaks', { filename: 'a.csv', file_data: base64(LONG).replace(/.{20}/g, '$&\r\n') }],
    ['per cent encoded', { file_data: 'data:text/plain,the%20%41pollo' }],
    ['with a long head', { file_data: `data:text/plain;${'x=y;'.repeat(100)}base64,${base64('Apollo')}` }],
    ['as an image of text', { url: `data:image/svg+xml;base64,${base64(`<svg>${LONG}</svg>`)}` }],
    ...['rtf', 'sql', 'toml', 'x-ndjson', 'x-python', 'vnd.api+json'].map((type): [string, object] => [
      type,
      { mimeType: `application/${type}`, data: base64('Apollo') },
    ]),
    ...['message/rfc822', 'text', 'text/csv'].map((type): [string, object] => [
      type,
      { media_type: type, data: base64('Apollo') },
    ]),
  ])('is read, and redacted inside: %s', (_, file) => {
    const body = { messages: [{ file }] };
    const texts = every(body);
    expect(texts.some((text) => text.includes('Apollo'))).toBe(true);

    const changed = withTexts(
      body,
      tree,
      texts.map((text) => text.replace('Apollo', 'it')),
    );
    const again = every(changed);
    expect(again.some((text) => text.includes('Apollo'))).toBe(false);
    expect(again).toHaveLength(texts.length);
  });

  it.each([
    [
      'in UTF-16',
      { filename: 'a.txt', file_data: Buffer.from('the Apollo plan', 'utf16le').toString('base64') },
    ],
    [
      'in Latin-1',
      { mime_type: 'text/plain', file_data: Buffer.from('the Ap\u00f6llo', 'latin1').toString('base64') },
    ],
    ['that is no base64', { filename: 'a.txt', file_data: `${base64(LONG)}!${base64(LONG)}` }],
    ['that is two in one', { file_data: ` data:text/plain;base64,${base64(LONG)}` }],
    ['that is badly per cent encoded', { file_data: 'data:text/plain,%ZZ' }],
  ])('is unread %s', (_, file) => {
    expect(findTexts({ messages: [{ file }] }, tree)).toMatchObject({ unread: 'file' });
  });

  it.each([
    [
      'an image',
      {
        url: `data:image/png;base64,${Buffer.from(Array.from({ length: 99 }, (_, at) => 255 - at)).toString('base64')}`,
      },
    ],
    ['a file by its address', { fileData: { mimeType: 'text/plain', fileUri: 'https://example.com/a.txt' } }],
  ])('is not mistaken for %s', (_, body) => {
    expect(findTexts(body, tree).unread).toBeUndefined();
  });
});

const text = (...texts: string[]) => texts.map((one) => ({ type: 'text', text: one }));
const valued = (...texts: string[]) => texts.map((value) => ({ type: 'text', text: { value } }));
const tool = (content: string) => ({ role: 'tool', tool_call_id: 'c', content });
const messageAt = (role: string, at: number) => ({ role, content: ['the Apo', 'x', 'llo'][at] });
const step = (type: string, ...texts: string[]) => ({ type, content: text(...texts) });
const userParts = (one: string) => ({ role: 'user', parts: [{ text: one }] });
const reasoning = (...texts: string[]) => ({
  ...{ type: 'reasoning', summary: [], encrypted_content: 'x' },
  content: text(...texts),
});
/** Messages that translations leave out. */
const SILENT: readonly (readonly [name: string, message: object])[] = [
  ['an empty message', { role: 'assistant', content: '' }],
  ['a blank message', { role: 'assistant', content: ' ' }],
  ['a message of null', { role: 'assistant', content: null }],
  ['a message without parts', { role: 'assistant', content: [] }],
  ['a message of empty parts', { role: 'assistant', content: text('', ' ') }],
  ['an empty refusal', { role: 'assistant', refusal: '' }],
  ['an empty list of calls', { role: 'assistant', content: '', tool_calls: [] }],
  ['thinking without a signature', { role: 'assistant', content: [{ type: 'thinking', thinking: 'x' }] }],
  ['reasoning beside an empty text', { role: 'assistant', content: '', reasoning_content: 'x' }],
];

describe('text parts of one message', () => {
  const runsOf = (messages: unknown) => (read({ messages }).runs ?? []).map(({ joined }) => joined[0]);

  it('are also one text', () => {
    expect(runsOf([{ role: 'user', content: text('the Apo', 'llo') }])).toEqual(['the Apollo']);
    expect(runsOf([{ role: 'user', content: ['the Apo', 'llo'] }])).toEqual(['the Apollo']);
    expect(runsOf([{ role: 'user', parts: [{ text: 'the Apo' }, { data: {} }, { text: 'llo' }] }])).toEqual([
      'the Apollo',
    ]);
  });

  it('are one with those of the next message of the same role', () => {
    const messages = [
      { role: 'user', content: 'the A' },
      { role: 'user', content: text('po', 'llo') },
      { role: 'assistant', content: 'x' },
      { role: 'user', content: 'y' },
    ];
    expect(runsOf(messages)).toEqual(['the Apollo']);
  });

  it('are one without the blank parts between them', () => {
    const [run] = read({ messages: [{ role: 'user', content: text('the Apo', ' ', 'llo') }] }).runs ?? [];
    expect(run?.joined).toEqual(['the Apo llo', 'the Apo   llo', 'the Apollo']);
  });

  it('are unescaped together', () => {
    const [run] =
      read({ messages: [{ role: 'user', content: text('{"a":"the Apo\\', 'u006clo"}') }] }).runs ?? [];
    expect(run?.joined).toContain('{"a":"the Apollo"}');
  });

  const joinedIn = (body: unknown) => (read(body).runs ?? []).map(({ joined }) => joined[0]);
  const A = 'the Apo';
  const B = 'llo';

  it.each<[string, object]>([
    [
      'system messages around others',
      {
        messages: [
          { role: 'system', content: A },
          { role: 'user', content: 'x' },
          { role: 'developer', content: B },
        ],
      },
    ],
    ['user messages around a system message', { messages: ['user', 'system', 'user'].map(messageAt) }],
    ["a tool's result and the user", { messages: [tool(A), { role: 'user', content: B }] }],
    ...SILENT.map(([name, message]): [string, object] => [
      `user messages around ${name}`,
      { messages: [{ role: 'user', content: A }, message, { role: 'user', content: B }] },
    ]),
    [
      'user contents around a content without parts',
      { contents: [userParts(A), { role: 'model', parts: [] }, userParts(B)] },
    ],
    [
      'user items around reasoning',
      { input: [{ role: 'user', content: A }, reasoning(), { role: 'user', content: B }] },
    ],
    [
      'reasoning around a message',
      {
        output: [reasoning(A), { type: 'message', role: 'assistant', content: text('x') }, reasoning(B)],
      },
    ],
    ['results of two tools', { messages: [tool(A), tool(B)] }],
    [
      'the parts of a result and those beside it',
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'tool_result', content: text(A) },
              { type: 'text', text: B },
            ],
          },
        ],
      },
    ],
    ['instructions and a developer item', { instructions: A, input: [{ role: 'developer', content: B }] }],
    ['a developer item and instructions', { input: [{ role: 'system', content: B }], instructions: A }],
    ['system and a system message', { messages: [{ role: 'system', content: B }], system: text(A) }],
    ['system instructions', { contents: [], systemInstruction: { parts: [{ text: A }, { text: B }] } }],
    [
      'contents without a role',
      { contents: [{ parts: [{ text: A }] }, { role: 'user', parts: [{ text: B }] }] },
    ],
    [
      'an output of a call and the user',
      {
        input: [
          { type: 'function_call_output', output: A },
          { role: 'user', content: B },
        ],
      },
    ],
    ['steps of the user', { input: [step('user_input', A), step('user_input', B)] }],
    [
      'steps of the user around an empty step',
      { input: [step('user_input', A), step('model_output'), step('user_input', B)] },
    ],
    ...[A, text(A), { output: A, code: 'x' }, { answer: A }].flatMap((result): [string, object][] => {
      const given = `a result of a function, ${JSON.stringify(result)},`;
      const response = typeof result === 'string' || Array.isArray(result) ? { output: A } : result;
      const part = { functionResponse: { name: 'f', response } };
      return [
        [`${given} and a step`, { input: [{ type: 'function_result', result }, step('user_input', B)] }],
        [`${given} and a part`, { contents: [{ role: 'user', parts: [part, { text: B }] }] }],
        [`${given} and a content`, { contents: [{ role: 'user', parts: [part] }, userParts(B)] }],
      ];
    }),
    [
      'steps of the model around a call',
      { steps: [step('model_output', A), { type: 'function_call', arguments: {} }, step('model_output', B)] },
    ],
    ['a prompt and its suffix', { suffix: B, prompt: A }],
    ['a list of one prompt and its suffix', { prompt: [A], suffix: B }],
    [
      'messages of a response around a call',
      {
        output: [
          { type: 'message', role: 'assistant', content: text(A) },
          { type: 'mcp_call', output: 'x' },
          { type: 'message', role: 'assistant', content: text(B) },
        ],
      },
    ],
    [
      'parts around a thought',
      { candidates: [{ content: { parts: [{ text: A }, { text: 'x', thought: true }, { text: B }] } }] },
    ],
    [
      'blocks around the result of a tool',
      { content: [...text(A), { type: 'mcp_tool_result', content: text('x') }, ...text(B)] },
    ],
    ['blocks of thinking', { content: [{ thinking: A }, ...text('x'), { thinking: B }] }],
    ['chunks of thinking', { content: [{ thinking: text(A) }, ...text('x'), { thinking: text(B) }] }],
    ['the parts of a message in a thread', { data: [{ role: 'assistant', content: valued(A, B) }] }],
  ])('are one in %s', (_, body) => {
    expect(joinedIn(body)).toContain('the Apollo');
  });

  it.each<[string, object]>([
    ['speakers', { messages: ['user', 'assistant', 'user'].map(messageAt) }],
    [
      'turns around a call',
      {
        messages: [
          { role: 'user', content: A },
          { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] },
          { role: 'user', content: B },
        ],
      },
    ],
    [
      'turns around a result',
      {
        messages: [{ role: 'assistant', content: A }, tool(''), { role: 'assistant', content: B }],
      },
    ],
    ['steps', { input: [step('user_input', A), step('model_output', B)] }],
    [
      'values of a function',
      { contents: [{ parts: [{ functionResponse: { response: { first: A, second: B } } }] }] },
    ],
    ['prompts', { prompt: [A, B] }],
    ['inputs', { input: [A, B] }],
    [
      'a call and its result',
      {
        input: [
          { type: 'function_call', arguments: A },
          { type: 'function_call_output', output: B },
        ],
      },
    ],
    ['a text and a thought', { content: [...text(A), { thinking: B }] }],
    ['instructions and the user', { instructions: A, input: [{ role: 'user', content: B }] }],
  ])('are not one over different %s', (_, body) => {
    expect(joinedIn(body)).not.toContain('the Apollo');
  });

  it('are separate where nothing joins them', () => {
    expect(
      runsOf([
        { role: 'user', content: 'a' },
        { role: 'assistant', content: 'b' },
      ]),
    ).toEqual([]);
    expect(read({ messages: [{ args: ['a', 'b'] }] }).runs).toBeUndefined();
  });
});
