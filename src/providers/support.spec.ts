import { describe, expect, it } from 'vitest';
import { bearer } from './auth-scheme.js';
import { type EndpointId, ENDPOINT_IDS } from './endpoint.js';
import type { Provider } from './provider.js';
import { clientFormats } from './client-formats/index.js';
import type { Translator } from './translation.js';
import { findProvider } from './catalog/registry.js';
import { supportOf } from './support.js';

const translator: Translator = {
  request: (hub) => ({ path: '/', body: hub }),
  answer: (answer) => answer,
  error: () => ({ message: '', type: '', code: null, param: null }),
};

const provider = (endpoints: readonly EndpointId[], translated: readonly EndpointId[]): Provider => ({
  id: 'some',
  name: 'Some',
  baseUrl: 'https://some.example/v1',
  dialect: { id: 'some', translators: Object.fromEntries(translated.map((id) => [id, translator])) },
  auth: bearer,
  endpoints,
  source: 'https://some.example',
});

const counting = 'count-tokens';
const shapes = ENDPOINT_IDS.filter((id) => clientFormats[id] !== undefined && id !== counting);

describe('supportOf', () => {
  it('prefers what the provider has itself', () => {
    expect(supportOf(provider(['embeddings'], ['embeddings']), 'embeddings')).toBe('native');
  });

  // https://api-docs.deepseek.com/
  it.each(['chat-completions', 'responses'] as const)(
    'passes %s to DeepSeek, which has it itself',
    (endpoint) => {
      expect(supportOf(findProvider('deepseek'), endpoint)).toBe('native');
    },
  );

  it('finds what a translator of the dialect adds', () => {
    expect(supportOf(provider([], ['chat-completions', 'rerank']), 'chat-completions')).toBe('translated');
    expect(supportOf(provider([], ['chat-completions', 'rerank']), 'rerank')).toBe('translated');
    expect(supportOf(provider([], ['chat-completions', 'rerank']), 'embeddings')).toBeNull();
  });

  it('reaches every chat format wherever chat is served or translated, and nowhere else', () => {
    for (const shape of shapes) {
      expect(supportOf(provider(['chat-completions'], []), shape)).toBe('translated');
      expect(supportOf(provider([], ['chat-completions']), shape)).toBe('translated');
      expect(supportOf(provider([shape], []), shape)).toBe('native');
      expect(supportOf(provider(['embeddings'], ['rerank']), shape)).toBeNull();
    }
  });

  it('counts by itself wherever chat is reached and the provider does not count', () => {
    expect(supportOf(provider(['chat-completions'], []), counting)).toBe('counted');
    expect(supportOf(provider([], ['chat-completions']), counting)).toBe('counted');
    expect(supportOf(provider([], ['chat-completions', counting]), counting)).toBe('translated');
    expect(supportOf(provider([counting], ['chat-completions']), counting)).toBe('native');
    expect(supportOf(provider(['embeddings'], []), counting)).toBeNull();
  });

  it('reaches nothing else by way of chat', () => {
    for (const id of ENDPOINT_IDS.filter(
      (known) => known !== 'chat-completions' && known !== counting && !shapes.includes(known),
    ))
      expect(supportOf(provider(['chat-completions'], ['chat-completions']), id)).toBeNull();
  });
});
