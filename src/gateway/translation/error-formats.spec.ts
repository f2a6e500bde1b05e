import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
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
