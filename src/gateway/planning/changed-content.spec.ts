import { describe, expect, it } from 'vitest';
import type { RequestContent, ReadRequest } from '../types/content.js';
import type { ParamChanges } from '../types/plan.js';
import { changedContent } from './changed-content.js';

const NOTHING: ParamChanges = { defaults: {}, overrides: {}, drops: [] };

function aRequest(text: string, path = '/chat/completions'): ReadRequest {
  const json = JSON.parse(text) as ReadRequest['json'];
  return {
    path: { path, query: '', isProxied: false },
    body: Buffer.from(text),
    json,
    model: typeof json?.model === 'string' ? json.model : null,
    isStreamed: json?.stream === true,
    modelSlug: null,
    isRepeatable: true,
    waitedMs: 0,
  };
}

const changed = (text: string, changes: Partial<ParamChanges>): RequestContent =>
  changedContent(aRequest(text), { ...NOTHING, ...changes });

const textOf = ({ body }: RequestContent): string => (body as Buffer).toString();

describe('changedContent', () => {
  it('changes no byte but the model where only the model changes', () => {
    const content = changed('{ "model" : "a", "n": 1.0 }', { overrides: { model: 'b' } });

    expect(textOf(content)).toBe('{ "model" : "b", "n": 1.0 }');
    expect(content).toMatchObject({ model: 'b', json: { model: 'b', n: 1 } });
  });

  it('fills in defaults, replaces, and takes out, in this order', () => {
    const content = changed(
      '{"model":"a","temperature":1,"user":"u","tools":[{"strict":true,"x":1},{"strict":false}]}',
      {
        defaults: { temperature: 0, max_tokens: 5 },
        overrides: { model: 'b', stream: true, seed: 1 },
        drops: [['user'], ['tools', '*', 'strict'], ['tools', 1], ['seed'], ['missing', 'too']],
      },
    );

    expect(JSON.parse(textOf(content))).toEqual({
      model: 'b',
      temperature: 1,
      max_tokens: 5,
      stream: true,
      tools: [{ x: 1 }],
    });
    expect(content).toMatchObject({ model: 'b', isStreamed: true });
  });

  it.each([
    [
      { overrides: { seed: 1 } },
      '{"n":12345678901234567890,"t":1.0,"tools":[{"id":9007199254740993,"strict":true}],"seed":1}',
    ],
    [
      { defaults: { n: 1, seed: 1 } },
      '{"n":12345678901234567890,"t":1.0,"tools":[{"id":9007199254740993,"strict":true}],"seed":1}',
    ],
    [
      { drops: [['tools', '*', 'strict']] },
      '{"n":12345678901234567890,"t":1.0,"tools":[{"id":9007199254740993}]}',
    ],
    [
      { overrides: { model: 'b' } },
      '{"n":12345678901234567890,"t":1.0,"tools":[{"id":9007199254740993,"strict":true}],"model":"b"}',
    ],
  ] as const)('keeps every digit of the numbers that %j does not name', (changes, expected) => {
    const given = '{ "n": 12345678901234567890, "t": 1.0, "tools": [{"id":9007199254740993,"strict":true}] }';
    const content = changed(given, changes);

    expect(textOf(content).replaceAll(/\s/g, '')).toBe(expected);
  });

  it('writes an override wherever its name occurs, also where the last one has its value already', () => {
    const given = '{"model":"dear","n":9,"model":"cheap","n":1}';

    expect(textOf(changed(given, { overrides: { model: 'cheap', n: 1 } }))).toBe(
      '{"model":"cheap","n":1,"model":"cheap","n":1}',
    );
  });

  it('leaves what the client sent as it was, for the next target', () => {
    const read = aRequest('{"model":"a","tools":[{"strict":true}]}');

    changedContent(read, { ...NOTHING, overrides: { n: 1 }, drops: [['tools', '*', 'strict']] });

    expect(read.json).toEqual({ model: 'a', tools: [{ strict: true }] });
  });

  it('puts the model of a Google call where Google has it', () => {
    const read = aRequest('{"contents":[]}', '/models/gemini-2.5-pro:streamGenerateContent');

    const content = changedContent(
      { ...read, isStreamed: true },
      { ...NOTHING, overrides: { model: 'tuned/x' } },
    );

    expect(content).toMatchObject({
      path: { path: '/models/tuned%2Fx:streamGenerateContent' },
      model: 'tuned/x',
      isStreamed: true,
    });
    expect(textOf(content)).toBe('{"contents":[]}');
  });

  it('lets a body alone that was not read', () => {
    const read = { ...aRequest('{}'), json: null };

    expect(changedContent(read, { ...NOTHING, overrides: { model: 'b' } })).toBe(read);
  });
});
