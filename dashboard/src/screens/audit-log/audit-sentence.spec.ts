import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { auditWords } from '../../words/audit';
import { sentenceOf, subjectOf } from './audit-sentence';

describe('the sentence of an audit record', () => {
  it('says what was done, or what was attempted', () => {
    const created = { action: 'create', resource_type: 'workspace_service_api_keys' };
    expect(sentenceOf({ ...created, outcome: 'success' })).toBe('Created API key');
    expect(sentenceOf({ ...created, outcome: 'refused' })).toBe('Create API key');
  });

  it('reads well for actions and resources without words of their own', () => {
    expect(sentenceOf({ action: 'rebuild', resource_type: 'usage_sums', outcome: 'success' })).toBe(
      'Rebuild usage sums',
    );
  });
});

describe('the words of the audit log', () => {
  /** Scopes of operations of the administration; the gateway's own are no actions. */
  const page = readFileSync(new URL('../../../../docs/scopes.md', import.meta.url), 'utf8');
  const scopes = [...page.matchAll(/^\| `([a-z_]+\.[a-z_]+)` .* `[A-Z]+ \/v1\/.*$/gm)].map(
    ([, scope = '']) => scope,
  );
  /** What users do with their own sign-in, and records whose action is not a scope. */
  const others = [
    ...['passkeys', 'passwords', 'second_factors', 'sessions'].map((resource) => `${resource}.update`),
    ...['sign_in_methods.delete', 'log_views.create', 'virtual_keys.test', 'policies.reset'],
    ...['feedback.create', 'invites.accept', 'invites.resend', 'log_exports.download', 'log_exports.start'],
  ];

  it.each([...scopes.filter((scope) => scope !== 'completions.write'), ...others])(
    'have a verb and a noun for %s',
    (scope) => {
      const [resource = '', verb = ''] = scope.split('.');
      expect(auditWords.resources[resource]).toBeDefined();
      expect(auditWords.actions[verb]).toBeDefined();
    },
  );
});

describe('the subject of an audit record', () => {
  const none = { before: null, after: null, request_body: null };

  it('is the name as it is now, else as it was, else as the request has it', () => {
    expect(subjectOf({ ...none, before: { name: 'old' }, after: { name: 'new' } })).toBe('new');
    expect(subjectOf({ ...none, before: { name: 'old' } })).toBe('old');
    expect(subjectOf({ ...none, request_body: '{"name":"***","email":"dana@acme.example"}' })).toBe(
      'dana@acme.example',
    );
  });

  it('is none without a name, whatever the request holds', () => {
    for (const request_body of [null, '', '{', '"text"', '[1]', '{"name":7}'])
      expect(subjectOf({ ...none, request_body })).toBeNull();
  });
});
