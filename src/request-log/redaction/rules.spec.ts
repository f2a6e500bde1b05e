import { describe, expect, it } from 'vitest';
import { readRedaction } from './rules.js';

describe('rules of redaction', () => {
  it('are kept as they were set, and none are none', () => {
    const rules = {
      headers: ['X-Customer'],
      json_paths: ['$..email', "$['a b'][3]"],
      patterns: [String.raw`\d{16}`],
    };
    expect(readRedaction(rules)).toEqual(rules);
    expect(readRedaction({ headers: [], patterns: [] })).toBeNull();
    expect(readRedaction(null)).toBeNull();
  });

  it('are refused with the place of each mistake', () => {
    const given = {
      headers: ['ok', 'not a header'],
      json_paths: ['$', 'user.email', '$.a[?(@.b)]', '$.a[-1]', '$.ok'],
      patterns: ['(?=x)', 'x*', 'ok'],
      other: 1,
    };
    let refusal = '';
    try {
      readRedaction(given);
    } catch (error) {
      refusal = (error as Error).message;
    }
    for (const place of [
      'log_redaction.headers[1] must be the name of a header',
      'log_redaction.json_paths[0] is not a path: it names the whole body',
      'log_redaction.json_paths[1] is not a path: it does not begin with "$"',
      'log_redaction.json_paths[2] is not a path: it is invalid from character 4 on',
      'log_redaction.json_paths[3] is not a path: it is invalid from character 4 on',
      'log_redaction.patterns[0] is invalid: it is not a valid RE2 pattern',
      'log_redaction.patterns[1] matches the empty string',
      'log_redaction.other is not a known field',
    ])
      expect(refusal).toContain(place);
    expect(refusal).not.toContain('[4]');
  });
});
