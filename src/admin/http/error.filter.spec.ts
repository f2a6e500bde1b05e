import { HttpException } from '@nestjs/common';
import { QueryFailedError } from 'typeorm';
import { describe, expect, it } from 'vitest';
import { BusyPoolError } from '../../database/sessions/busy-pool.js';
import { toAdministrationError } from './error.filter.js';
import { AppError } from '../../common/errors/app-error.js';

const withCode = (code: string) => Object.assign(new Error('something'), { code });
/** As the framework throws them; our own code never does. */
const fromFramework = (status: number): unknown => Reflect.construct(HttpException, ['Some words.', status]);
const failedQuery = (code: string) => new QueryFailedError('SELECT 1', [], withCode(code));

describe('toAdministrationError', () => {
  it.each([
    [new AppError('conflict', { detail: 'Taken.' }), 'conflict'],
    [fromFramework(404), 'not_found'],
    [fromFramework(400), 'invalid_request'],
    [fromFramework(413), 'body_too_large'],
    [fromFramework(415), 'unsupported_media_type'],
    [fromFramework(418), 'internal_error'],
    [withCode('ECONNREFUSED'), 'database_unavailable'],
    [new AggregateError([withCode('ECONNREFUSED'), withCode('ECONNREFUSED')]), 'database_unavailable'],
    [new Error('Connection terminated unexpectedly'), 'database_unavailable'],
    [new Error('timeout exceeded when trying to connect'), 'database_unavailable'],
    [new BusyPoolError(new Error('timeout exceeded when trying to connect')), 'database_busy'],
    [failedQuery('57P01'), 'database_unavailable'],
    [failedQuery('53300'), 'database_unavailable'],
    [failedQuery('57014'), 'overloaded'],
    [failedQuery('40P01'), 'overloaded'],
    [failedQuery('23503'), 'conflict'],
    [failedQuery('23505'), 'internal_error'],
    [new TypeError('x is not a function'), 'internal_error'],
    ['a text', 'internal_error'],
    [undefined, 'internal_error'],
  ])('maps %s to the refusal %s', (thrown, code) => {
    expect(toAdministrationError(thrown, { contentType: 'text/plain' }).code).toBe(code);
  });

  it('shows nothing of what was thrown', () => {
    const error = toAdministrationError(failedQuery('42601'), { contentType: 'none' });

    expect(error.message).not.toMatch(/SELECT|something/);
  });
});
