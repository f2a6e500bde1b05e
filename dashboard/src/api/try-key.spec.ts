import { beforeAll, describe, expect, it, vi } from 'vitest';
import { chatCommand } from './try-key';

beforeAll(() => {
  vi.stubGlobal('location', { origin: 'http://127.0.0.1:8787' });
});

describe('the command that tries a key', () => {
  const modelOf = (virtualKey?: { slug: string; provider: string }): unknown =>
    /"model":"([^"]+)"/.exec(chatCommand('gw_ws_1', virtualKey))?.[1];

  it('names a model of the provider, and the sandbox without a virtual key', () => {
    expect(modelOf()).toBe('sandbox-1');
    expect(modelOf({ slug: 'a', provider: 'sandbox' })).toBe('sandbox-1');
    expect(modelOf({ slug: 'a', provider: 'openai' })).toMatch(/^gpt-/);
    expect(modelOf({ slug: 'a', provider: 'anthropic' })).toMatch(/^claude-/);
    expect(modelOf({ slug: 'a', provider: 'google' })).toMatch(/^gemini-/);
  });

  it('leaves the model of another provider to the reader', () => {
    expect(modelOf({ slug: 'a', provider: 'ollama' })).toBe('YOUR_MODEL');
  });
});
