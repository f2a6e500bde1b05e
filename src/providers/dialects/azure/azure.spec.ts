import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../../common/errors/app-error.js';
import type { NativeCall } from '../../dialect.js';
import type { EndpointId } from '../../endpoint.js';
import { azureAi, azureOpenAi } from './index.js';

const DATED = { 'azure-api-version': '2024-10-21' };
const call = (
  endpoint: EndpointId,
  path: string,
  fields: NativeCall['fields'],
  model = 'gpt-4.1',
): NativeCall => ({
  endpoint,
  path,
  fields,
  model,
});

const named = (endpoint: EndpointId, path: string, fields: NativeCall['fields'], model?: string) =>
  azureOpenAi.pathOf?.(call(endpoint, path, fields, model));

describe('the path of Azure OpenAI', () => {
  it.each<[EndpointId, string, NativeCall['fields'], string]>([
    ['chat-completions', '/chat/completions', DATED, '/deployments/gpt-4.1/chat/completions'],
    [
      'chat-completions',
      '/chat/completions',
      { ...DATED, 'azure-deployment-id': 'prod' },
      '/deployments/prod/chat/completions',
    ],
    ['embeddings', '/embeddings', DATED, '/deployments/gpt-4.1/embeddings'],
    ['image-generations', '/images/generations', DATED, '/deployments/gpt-4.1/images/generations'],
    [
      'speech',
      '/audio/speech',
      { 'azure-api-version': '2025-03-01-preview' },
      '/deployments/gpt-4.1/audio/speech',
    ],
    ['files', '/files/f-1/content', DATED, '/files/f-1/content'],
    ['batches', '/batches', DATED, '/batches'],
    ['responses', '/responses', DATED, '/responses'],
    ['chat-completions', '/chat/completions', { 'azure-api-version': 'v1' }, '/v1/chat/completions'],
    ['files', '/files', { 'azure-api-version': 'preview' }, '/v1/files'],
  ])('of %s %s with %j is below the resource', (endpoint, path, fields, expected) => {
    expect(named(endpoint, path, fields)).toBe(expected);
  });

  it.each(['', '.', '..', '../other', 'a/b', 'a?b', 'a#b', '%2e%2e', 'a b', 'x'.repeat(65)])(
    'does not take the model "%s" for a deployment',
    (model) => {
      expect(() => named('chat-completions', '/chat/completions', DATED, model)).toThrow(AppError);
      expect(() => named('chat-completions', '/chat/completions', DATED, model)).toThrow(
        'azure-deployment-id',
      );
    },
  );

  it('names a multipart request by the field alone, because its model is not read', () => {
    expect(
      named('transcriptions', '/audio/transcriptions', { ...DATED, 'azure-deployment-id': 'whisper' }, ''),
    ).toBe('/deployments/whisper/audio/transcriptions');
  });

  it('never leaves the deployments of the resource, whatever the model', () => {
    const models = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\w.%/~-]{1,9}$/));
    fc.assert(
      fc.property(models, (model) => {
        let path: string | undefined;
        try {
          path = named('chat-completions', '/chat/completions', DATED, model);
        } catch (error) {
          expect(error).toBeInstanceOf(AppError);
          return;
        }
        const url = new URL(`https://r.example/openai${path}`);
        expect(url.pathname).toBe(`/openai/deployments/${model}/chat/completions`);
        expect(url.search + url.hash).toBe('');
      }),
    );
  });
});

describe('the path of a Foundry resource', () => {
  it.each<[EndpointId, string, string]>([
    ['chat-completions', '/chat/completions', '/chat/completions'],
    ['embeddings', '/embeddings', '/embeddings'],
    ['messages', '/messages', '/v1/messages'],
    ['count-tokens', '/messages/count_tokens', '/v1/messages/count_tokens'],
  ])('of %s %s is %s', (endpoint, path, expected) => {
    expect(azureAi.pathOf?.(call(endpoint, path, {}))).toBe(expected);
  });
});
