import { describe, expect, it } from 'vitest';
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
