import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { aBudget, aLimit } from '../../../test/support/limits.js';
import { AppError } from '../../common/errors/app-error.js';
import { refusalOf } from '../limits/refusal-of.js';
import { errorReply } from './error-formats.js';

const ID = '01900000-0000-7000-8000-000000000001';
const RATE = new AppError('rate_limited', { subject: 'this API key', rate: '', retryAfter: 3571 });
const BUDGET = new AppError('budget_exceeded', { subject: 'this API key', left: '$0.01', needed: '$2.00' });
const CODEX = { originator: 'codex_exec' };
const at = (url: string, error = RATE, headers = {}) => errorReply(error, { url, headers }, ID);

describe('an error of the gateway', () => {
  it.each(['/v1/messages?beta=true', '/v1/messages/count_tokens'])("has Anthropic's format at %s", (url) => {
    expect(at(url, BUDGET).body).toMatchObject({
      type: 'error',
      error: { type: 'billing_error', message: BUDGET.message, code: 'budget_exceeded', request_id: ID },
    });
  });

  it.each(['/upload/v1/files', '/upload/v1beta/files', '/v1/upload/v1/files'])(
    "has Google's format at %s",
    (url) => {
      expect(at(url).body).toMatchObject({ error: { code: 429, status: 'RESOURCE_EXHAUSTED' } });
    },
  );

  it.each(['/v1/chat/completions', '/v1/messages', '/v1/responses', '/v1beta/models/gemini:generateContent'])(
    'has no digits in its body at %s that make OpenCode repeat it',
    (url) => {
      const id = '01900000-4290-7500-8503-000000000001';
      const headers = { 'user-agent': 'opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14' };
      const { body } = errorReply(BUDGET, { url, headers }, id);
      expect(JSON.stringify(body)).not.toMatch(/429|500|502|503|504|524/);
      expect(JSON.stringify(errorReply(BUDGET, { url, headers: {} }, id).body)).toContain(id);
    },
  );

  it.each(['/v1beta/models/gemini:streamGenerateContent?alt=sse', '/v1/models/gemini:generateContent'])(
    "has Google's format and the wait at %s",
    (url) => {
      const { error } = at(url).body as { error: { details: object[] } };
      expect(error).toMatchObject({ code: 429, status: 'RESOURCE_EXHAUSTED', message: RATE.message });
      expect(error.details).toMatchObject([
        { reason: 'RATE_LIMITED', metadata: { code: 'rate_limited', request_id: ID } },
        { retryDelay: '3571s' },
      ]);
    },
  );

  it.each([RATE, BUDGET])(
    'stops Codex at a limit, with the message in the header that it shows: %s',
    (error) => {
      const { status, body, headers } = at('/v1/responses', error, CODEX);
      expect(status).toBe(429);
      expect(body).toMatchObject({
        error: { type: 'usage_limit_reached', code: error.code, message: error.message },
      });
      expect(headers).toEqual(['x-codex-promo-message', error.message.replace(/\.$/, '')]);
    },
  );

  it.each([
    ['/v1/chat/completions', {}],
    ['/v1/responses', {}],
    ['/v1beta/openai/chat/completions', CODEX],
  ])("has OpenAI's format and its own status at %s", (url, headers) => {
    expect(at(url, BUDGET, headers)).toMatchObject({
      status: 402,
      body: { error: { type: 'budget_error', code: 'budget_exceeded' } },
    });
  });
});

describe("the reset of Codex's usage limit", () => {
  const NOW = Date.parse('2026-11-28T12:00:00Z');
  const seconds = (time: string): number => Date.parse(time) / 1000;
  beforeEach(() => {
    vi.useFakeTimers({ now: NOW, toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const refused = (limit: ReturnType<typeof aLimit>, retryMs = 0) =>
    at('/v1/responses', refusalOf(limit, { left: 0, needed: 1, retryMs }), CODEX);
  const DAYS = { periodic_reset_days: 3, starts_at: Date.parse('2026-11-26T08:00:00Z') };

  it.each([
    ['a weekly budget', aBudget(1, { periodic_reset: 'weekly' }), '2026-11-30T00:00:00Z'],
    ['a monthly budget', aBudget(1, { periodic_reset: 'monthly' }), '2026-12-01T00:00:00Z'],
    ['a budget of three days', aBudget(1, DAYS), '2026-11-29T08:00:00Z'],
  ])('is the end of its period: %s', (_, limit, end) => {
    const resets_in_seconds = seconds(end) - NOW / 1000;

    expect(refused(limit)).toMatchObject({
      status: 429,
      body: { error: { type: 'usage_limit_reached', resets_at: seconds(end), resets_in_seconds } },
    });
  });

  it('is left out for a budget that nothing resets', () => {
    const { error } = refused(aBudget(1)).body as { error: object };

    expect(error).toMatchObject({ type: 'usage_limit_reached' });
    expect(error).not.toHaveProperty('resets_at');
    expect(error).not.toHaveProperty('resets_in_seconds');
  });

  it.each([
    ['an hour', 3_600_000, 3_571_000],
    ['a day', 86_400_000, 40_000_000],
    ['a week', 604_800_000, 600_000_000],
    ['90 s', 90_000, 61_000],
  ])('is the end of the wait for a rate in a window of %s', (_, windowMs, retryMs) => {
    expect(refused(aLimit({ windowMs }), retryMs)).toMatchObject({
      status: 429,
      body: { error: { resets_at: (NOW + retryMs) / 1000, resets_in_seconds: retryMs / 1000 } },
    });
  });

  it.each([
    ['a second', 1_000, 700],
    ['a minute', 60_000, 60_000],
  ])('is no reason to stop within a window of %s: Codex waits', (_, windowMs, retryMs) => {
    const { body } = refused(aLimit({ windowMs }), retryMs);

    expect(body).toMatchObject({ error: { type: 'rate_limit_error', code: 'rate_limited' } });
  });
});
