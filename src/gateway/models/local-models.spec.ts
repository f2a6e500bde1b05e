import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { modelEntry } from '../../providers/models/model-entry.js';
import { modelListQuery } from '../../providers/models/model-list.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { UsableKey } from '../ports.js';
import { answerModels, askedModels } from './local-models.js';
import { ModelCatalog } from '../../providers/models/model-catalog.js';
import { UsableModelsFinder } from './usable-models.js';

const models = [
  modelEntry('gpt-5', findProvider('openai'), 400_000),
  modelEntry('gpt-5-mini', findProvider('openai'), 400_000),
  modelEntry('openai/gpt-oss-120b', findProvider('groq'), null),
];
const bytes = Buffer.from('{"kept":true}');

class Catalog extends ModelCatalog {
  prepare(): null {
    return null;
  }
  all = () => models;
  listed = () => bytes;
}

const key = (slug: string, providerId: string, more: Partial<UsableKey> = {}): UsableKey => ({
  slug,
  providerId,
  expiresAt: null,
  ...more,
});

interface World {
  readonly keys?: readonly UsableKey[];
  readonly policy?: { readonly providers?: string[]; readonly models?: string[] };
}

function answered(query: string, id: string | null, { keys = [], policy }: World = {}): Buffer {
  const finder = new UsableModelsFinder(new Catalog(), { find: () => keys });
  const asked = modelListQuery(new URLSearchParams(query));
  const caller = aCaller({
    policy: policy
      ? {
          providers: policy.providers ? new Set(policy.providers) : null,
          models: policy.models ? new Set(policy.models) : null,
          keepsBodies: true,
          needsLog: false,
        }
      : null,
  });
  const found = finder.find(caller, asked.isOfAll);
  if (found instanceof Promise) throw new Error('it is in memory');
  return answerModels(asked, id, found).body;
}

const ask = (query: string, id: string | null = null, world: World = {}): unknown =>
  JSON.parse(answered(query, id, world).toString());
const idsOf = (world: World, query = ''): readonly string[] =>
  (ask(query, null, world) as { data: { id: string }[] }).data.map(({ id }) => id);

describe('answerModels', () => {
  it('lists everything with the bytes that the catalogue keeps, where nothing narrows it', () => {
    expect(answered('', null)).toBe(bytes);
    expect(answered('scope=all', null, { keys: [key('prod', 'openai')] })).toBe(bytes);
  });

  it('lists what a query selects', () => {
    expect(ask('provider=groq')).toEqual({ object: 'list', data: [models[2]], total: 1 });
  });

  it('gives one model, whose name may have slashes', () => {
    expect(ask('', 'openai/gpt-oss-120b')).toEqual(models[2]);
  });

  it('lists what the virtual keys of the workspace reach, by the names that choose them', () => {
    const keys = [key('fast', 'groq'), key('prod', 'openai'), key('own', 'ollama')];
    expect(idsOf({ keys })).toEqual(['@fast/openai/gpt-oss-120b', '@prod/gpt-5', '@prod/gpt-5-mini']);
    expect(idsOf({ keys }, 'provider=openai&search=MINI')).toEqual(['@prod/gpt-5-mini']);
    expect(ask('', '@prod/gpt-5', { keys })).toEqual({ ...models[0], id: '@prod/gpt-5' });
  });

  it('gives a model by its bare name, too, where a key reaches it', () => {
    const keys = [key('prod', 'openai')];
    expect(ask('', 'gpt-5', { keys })).toEqual({ ...models[0], id: '@prod/gpt-5' });
    expect(() => ask('', 'openai/gpt-oss-120b', { keys })).toThrow('model');
  });

  it('heeds which models a key may be used for, those that the catalogue does not know included', () => {
    const only = key('prod', 'openai', {
      models: { names: new Set(['gpt-5', 'ft:mine']), areAllowed: true },
    });
    const but = key('rest', 'openai', { models: { names: new Set(['gpt-5']), areAllowed: false } });
    expect(idsOf({ keys: [only, but] })).toEqual(['@prod/gpt-5', '@prod/ft:mine', '@rest/gpt-5-mini']);
  });

  it('heeds the policy of the organization, with keys and without', () => {
    expect(idsOf({ policy: { providers: ['groq'] } })).toEqual(['openai/gpt-oss-120b']);
    expect(idsOf({ keys: [key('prod', 'openai')], policy: { models: ['gpt-5'] } })).toEqual(['@prod/gpt-5']);
    expect(idsOf({ keys: [key('prod', 'openai')], policy: { providers: ['groq'] } })).toEqual([]);
  });

  it('takes keys in their order until the list is full', () => {
    const keys = Array.from({ length: 11_000 }, (_, at) => key(`k${at}`, 'openai'));
    const ids = idsOf({ keys });

    expect(ids).toHaveLength(20_000);
    expect(ids.at(-1)).toBe('@k9999/gpt-5-mini');
  });

  it('leaves out expired keys', () => {
    const keys = [key('old', 'openai', { expiresAt: 1 }), key('fast', 'groq')];
    expect(idsOf({ keys })).toEqual(['@fast/openai/gpt-oss-120b']);
  });

  it('makes the list of a workspace once, for as long as nothing changes', () => {
    const keys = [key('prod', 'openai')];
    const finder = new UsableModelsFinder(new Catalog(), { find: () => keys });
    const listed = (): unknown => {
      const found = finder.find(aCaller(), false);
      return found instanceof Promise ? null : found.listed();
    };
    expect(listed()).toBe(listed());
  });

  it.each([
    ['', 'gpt-99', 'model'],
    ['provider=openai', 'openai/gpt-oss-120b', 'model'],
    ['provider=nobody', null, 'nobody'],
    ['limit=x', null, 'limit'],
    ['scope=mine', null, 'scope'],
  ])('refuses "%s" for %s with words', (query, id, word) => {
    expect(() => ask(query, id)).toThrow(word);
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
