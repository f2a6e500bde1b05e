import { QueryFailedError } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { AppError } from './app-error.js';
import { describeFailure } from './describe-failure.js';

describe('describeFailure', () => {
  it('leaves out the parameters of a statement', () => {
    const failed = new QueryFailedError(
      'INSERT INTO api_keys VALUES ($1)',
      ['sk-canary'],
      new Error('duplicate key'),
    );
    const described = JSON.stringify(describeFailure(new AppError('internal_error', {}, { cause: failed })));

    expect(described).toContain('duplicate key');
    expect(described).not.toContain('sk-canary');
  });

  it('ends with causes that never do', () => {
    const error = new Error('round');
    error.cause = error;

    expect(JSON.stringify(describeFailure(error)).length).toBeLessThan(10_000);
  });

  it('does not show a thrown text, which may be anything', () => {
    expect(JSON.stringify(describeFailure('sk-canary'))).not.toContain('canary');
  });
});
