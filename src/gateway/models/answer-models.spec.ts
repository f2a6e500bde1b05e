import { describe, expect, it } from 'vitest';
import { modelEntry } from '../../providers/models/model-entry.js';
import { findProvider } from '../../providers/registry.js';
import { answerModels, askedModels } from './answer-models.js';
import { ModelCatalog } from './models-port.js';

const models = [
  modelEntry('gpt-5', findProvider('openai'), 400_000),
  modelEntry('openai/gpt-oss-120b', findProvider('groq'), null),
];
const bytes = Buffer.from('{"kept":true}');

class Catalog extends ModelCatalog {
  all = () => models;
  listed = () => bytes;
}

const catalog = new Catalog();
const ask = (query: string, id: string | null = null): unknown => {
  const { status, body } = answerModels(new URLSearchParams(query), id, catalog);
  expect(status).toBe(200);
  return JSON.parse(body.toString());
};

describe('answerModels', () => {
  it('lists everything with the bytes that the catalogue keeps', () => {
    expect(answerModels(new URLSearchParams(), null, catalog).body).toBe(bytes);
  });

  it('lists what a query asks for', () => {
    expect(ask('provider=groq')).toEqual({ object: 'list', data: [models[1]], total: 1 });
  });

  it('gives one model, whose name may have slashes', () => {
    expect(ask('', 'openai/gpt-oss-120b')).toEqual(models[1]);
  });

  it.each([
    ['', 'gpt-99', 'model'],
    ['provider=openai', 'openai/gpt-oss-120b', 'model'],
    ['provider=nobody', null, 'nobody'],
    ['limit=x', null, 'limit'],
  ])('refuses "%s" for %s with words', (query, id, word) => {
    expect(() => answerModels(new URLSearchParams(query), id, catalog)).toThrow(word);
  });
});

describe('askedModels', () => {
  it.each([
    ['/models', { id: null }],
    ['/models/gpt-5', { id: 'gpt-5' }],
    ['/models/openai/gpt-oss-120b', { id: 'openai/gpt-oss-120b' }],
    ['/models/openai%2Fgpt-oss-120b', { id: 'openai/gpt-oss-120b' }],
    ['/models/', null],
    ['/models/%zz', null],
    ['/modelsx', null],
    ['/files', null],
  ])('reads %s', (path, asked) => {
    expect(askedModels(path)).toEqual(asked);
  });
});
