import { describe, expect, it } from 'vitest';
import { Secret } from '../common/settings/secret.js';
import { listedModels, listingRequest } from './model-listing.js';
import { findProvider } from './catalog/registry.js';

const key = new Secret('sk-canary');
const account = (more: object = {}) => ({ customHost: null, fields: {}, key, ...more });

describe('listingRequest', () => {
  it.each([
    ['openai', {}, 'https://api.openai.com/v1/models', ['authorization', 'Bearer sk-canary']],
    [
      'anthropic',
      {},
      'https://api.anthropic.com/v1/models',
      ['anthropic-version', '2023-06-01', 'x-api-key', 'sk-canary'],
    ],
    [
      'google',
      {},
      'https://generativelanguage.googleapis.com/v1beta/models',
      ['x-goog-api-key', 'sk-canary'],
    ],
    ['cohere', {}, 'https://api.cohere.com/v1/models', ['authorization', 'Bearer sk-canary']],
    [
      'azure-openai',
      { fields: { 'azure-resource-name': 'acme', 'azure-api-version': '2024-10-21' } },
      'https://acme.openai.azure.com/openai/models?api-version=2024-10-21',
      ['api-key', 'sk-canary'],
    ],
    ['ollama', { customHost: 'http://10.0.0.1:11434', key: null }, 'http://10.0.0.1:11434/v1/models', []],
    [
      'ollama-native',
      { customHost: 'http://10.0.0.1:11434', key: null },
      'http://10.0.0.1:11434/api/tags',
      [],
    ],
    ['ollama', { customHost: 'http://10.0.0.1:11434/v1', key: null }, 'http://10.0.0.1:11434/v1/models', []],
    ['google', { customHost: 'http://10.0.0.1', key: null }, 'http://10.0.0.1/v1beta/models', []],
    [
      'cohere',
      { customHost: 'http://10.0.0.1/v2' },
      'http://10.0.0.1/v1/models',
      ['authorization', 'Bearer sk-canary'],
    ],
    [
      'azure-openai',
      { customHost: 'https://r.openai.azure.com/openai/v1' },
      'https://r.openai.azure.com/openai/v1/models',
      ['api-key', 'sk-canary'],
    ],
    [
      'openai',
      { fields: { 'openai-project': 'proj_1' } },
      'https://api.openai.com/v1/models',
      ['openai-project', 'proj_1', 'authorization', 'Bearer sk-canary'],
    ],
  ])('calls %s with %o at the address and with the headers of the account', (id, more, url, headers) => {
    expect(listingRequest(findProvider(id), account(more))).toEqual({ url, headers });
  });
});

describe('listedModels', () => {
  it.each([
    [{ object: 'list', data: [{ id: 'gpt-5' }, { id: 'o3' }] }, ['gpt-5', 'o3']],
    [{ models: [{ name: 'models/gemini-2.5-pro' }, { name: 'command-r' }] }, ['gemini-2.5-pro', 'command-r']],
    [
      [{ id: 'a' }, 'b', 7, null],
      ['a', 'b'],
    ],
    [{ data: 'none' }, []],
    [null, []],
  ])('reads %j', (answer, names) => {
    expect(listedModels(answer)).toEqual(names);
  });
});
