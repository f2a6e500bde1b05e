import { describe, expect, it } from 'vitest';
import { canonicalModel, isSameModel, sameModelIn } from './model-name.js';

describe('canonicalModel', () => {
  it.each(['gpt-4o', 'GPT-4o', ' gpt-4o', 'gpt-4o\n', 'openai/gpt-4o', ' OpenAI/GPT-4O '])(
    'is the same for %j',
    (model) => {
      expect(canonicalModel(model, 'openai')).toBe('gpt-4o');
    },
  );

  it('keeps the name of another provider, which is part of the name at aggregators', () => {
    expect(canonicalModel('openai/gpt-4o', 'openrouter')).toBe('openai/gpt-4o');
    expect(isSameModel('gpt-4o', 'openai/gpt-4o', 'openrouter')).toBe(false);
  });

  it('finds the name of a list', () => {
    expect(sameModelIn(new Set(['a', 'GPT-4o']), 'openai/gpt-4o', 'openai')).toBe('GPT-4o');
    expect(sameModelIn(new Map([['a', 1]]), 'gpt-4o', 'openai')).toBeNull();
  });
});
