import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { Target } from '../types/target.js';
import { namingProvider } from './refusal.js';

const target = (more: Partial<Target> = {}): Target => ({
  provider: findProvider('openai'),
  origin: 'https://api.openai.com',
  basePath: '/v1',
  query: '',
  isCustomHost: false,
  forwarded: null,
  virtualKey: null,
  credentials: { key: null, fields: {} },
  ...more,
});
const refused = new AppError('upstream_error', { detail: 'connection refused' });

describe('the failure of a provider', () => {
  it('names the provider, its host and the cause', () => {
    expect(namingProvider(refused, target()).message).toBe(
      'The request to the provider "openai" at api.openai.com failed: connection refused.',
    );
  });

  it('names the port of a host that the caller sent', () => {
    const { message } = namingProvider(
      refused,
      target({ origin: 'http://127.0.0.1:4529', isCustomHost: true }),
    );
    expect(message).toContain('"openai" at 127.0.0.1:4529 failed');
  });

  it('never shows a host that a virtual key pins', () => {
    const pinned = { origin: 'https://models.internal:8443', isCustomHost: true };
    const { message } = namingProvider(refused, target({ ...pinned, virtualKey: { id: 'i', slug: 'acme' } }));
    expect(message).toBe(
      'The request to the provider "openai" of the virtual key "acme" failed: connection refused.',
    );
  });

  it('keeps code and cause, and leaves other refusals alone', () => {
    const cause = new Error('ECONNREFUSED');
    const named = namingProvider(
      new AppError('upstream_timeout', { timeoutMs: 300, phase: 'connect' }, { cause }),
      target(),
    );
    expect([named.code, named.cause]).toEqual(['upstream_timeout', cause]);
    expect(named.message).toBe(
      'The provider "openai" at api.openai.com did not respond within 300 ms (connect).',
    );
    const other = new AppError('rate_limited', { subject: 'this API key' });
    expect(namingProvider(other, target())).toBe(other);
  });
});
