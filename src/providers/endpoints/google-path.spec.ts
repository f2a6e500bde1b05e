import { describe, expect, it } from 'vitest';
import { googleCallOf } from './google-path.js';

describe('googleCallOf', () => {
  it.each([
    ['/v1beta/models/gemini-2.5-pro:generateContent', 'gemini-2.5-pro', 'generateContent', false],
    ['/v1beta/models/gemini-2.5-pro:streamGenerateContent', 'gemini-2.5-pro', 'streamGenerateContent', true],
    ['/models/gemini-embedding-001:batchEmbedContents', 'gemini-embedding-001', 'batchEmbedContents', false],
    ['/models/ft%3Aa:countTokens', 'ft:a', 'countTokens', false],
    ['/models/a:b:embedContent', 'a:b', 'embedContent', false],
  ])('takes %s apart', (path, model, method, isStreamed) => {
    expect(googleCallOf(path)).toEqual({ model, method, isStreamed });
  });

  it.each([
    '/chat/completions',
    '/models/gemini-2.5-pro',
    '/models/:generateContent',
    '/models/a%zz:embedContent',
    '',
  ])('finds no call in %s', (path) => {
    expect(googleCallOf(path)).toBeNull();
  });
});
