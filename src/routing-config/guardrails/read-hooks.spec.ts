import { describe, expect, it } from 'vitest';
import { mistakesInWords, readRoutingConfig } from '../routing-config.js';
import { withoutSecrets, withSecrets } from './check-secrets.js';

const WEBHOOK = {
  webhookURL: 'https://example.com/g',
  secret: 'a-secret-of-mine',
  headers: { authorization: 'Bearer x' },
};
const mistakes = (document: object, origin: 'saved' | 'sent' = 'saved'): string =>
  mistakesInWords(readRoutingConfig(document, origin).mistakes ?? []);

describe('guardrails of a config', () => {
  it('are taken as ids, in a list of checks, and by name', () => {
    expect(
      mistakes({
        input_guardrails: ['pg-1', { 'default.contains': { words: ['x'], operator: 'none' }, deny: true }],
        after_request_hooks: [
          {
            id: 'h',
            type: 'guardrail',
            checks: [{ id: 'default.wordCount', parameters: {} }],
            on_fail: { feedback: { value: -1, weight: 1, metadata: '' } },
          },
        ],
        output_mutators: [{ 'default.pii': { redact: true } }],
      }),
    ).toBe('');
  });

  it.each([
    [{ input_guardrails: 'pg-1' }, 'config.input_guardrails must be a list'],
    [{ input_guardrails: [''] }, 'config.input_guardrails[0] must be the id'],
    [{ input_guardrails: [7] }, 'config.input_guardrails[0] must be the id'],
    [{ input_guardrails: [{}] }, 'config.input_guardrails[0] has no checks'],
    [
      { input_guardrails: [{ 'default.notNull': {}, denny: true }] },
      'config.input_guardrails[0].denny is not a known field (did you mean "deny"?)',
    ],
    [
      { input_guardrails: [{ 'default.notNull': {}, deny: 1 }] },
      'config.input_guardrails[0].deny is invalid',
    ],
    [
      { input_guardrails: [{ 'default.notNull': {}, on_fail: { feedback: { value: 11 } } }] },
      'on_fail.feedback.value',
    ],
    [{ output_guardrails: [{ 'default.modelwhitelist': { models: ['x'] } }] }, 'checks requests only'],
    [{ input_mutators: [{ 'default.notNull': {} }] }, 'changes nothing'],
    [
      { before_request_hooks: [{ type: 'spell', checks: [{ id: 'default.notNull' }] }] },
      'must be "guardrail" or "mutator"',
    ],
    [
      { before_request_hooks: [{ checks: Array.from({ length: 51 }, () => ({ id: 'default.notNull' })) }] },
      'a list of 1 to 50',
    ],
    [{ before_request_hooks: Array.from({ length: 51 }, () => 'pg-1') }, 'at most 50 items'],
  ])('%j: %s', (document, expected) => {
    expect(mistakes(document)).toContain(expected);
  });

  it('may bring secrets with a request, and not into a saved config', () => {
    const byName = { input_guardrails: [{ 'default.webhook': WEBHOOK }] };
    const listed = { input_guardrails: [{ checks: [{ id: 'default.webhook', parameters: WEBHOOK }] }] };

    for (const document of [byName, listed]) {
      expect(mistakes(document, 'sent')).toBe('');
      expect(mistakes(document)).toContain('config.input_guardrails[0]');
    }
  });

  it('keep their secrets apart, and take a mask for what was there', () => {
    const checks = [{ id: 'default.webhook', parameters: WEBHOOK }];
    const { shown, secrets } = withoutSecrets(checks);

    expect(JSON.stringify(shown)).not.toMatch(/a-secret|Bearer/);
    expect(withSecrets(shown, secrets)).toEqual(checks);
    expect(withoutSecrets(shown, secrets).secrets).toEqual(secrets);
  });
});
