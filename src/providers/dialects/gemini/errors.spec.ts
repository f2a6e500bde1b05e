import { describe, expect, it } from 'vitest';
import type { Json } from '../../endpoint.js';
import { googleError } from './errors.js';

describe("Google's refusals", () => {
  it.each<[number, string, string]>([
    [400, 'INVALID_ARGUMENT', 'invalid_request_error'],
    [400, 'FAILED_PRECONDITION', 'invalid_request_error'],
    [401, 'UNAUTHENTICATED', 'authentication_error'],
    [403, 'PERMISSION_DENIED', 'permission_error'],
    [404, 'NOT_FOUND', 'not_found_error'],
    [409, 'ABORTED', 'conflict_error'],
    [429, 'RESOURCE_EXHAUSTED', 'rate_limit_error'],
    [500, 'INTERNAL', 'server_error'],
    [503, 'UNAVAILABLE', 'server_error'],
    [504, 'DEADLINE_EXCEEDED', 'timeout_error'],
  ])('%i %s is a %s', (status, name, type) => {
    expect(googleError(status, { error: { code: status, message: 'm', status: name } })).toEqual({
      message: 'm',
      type,
      code: name,
      param: null,
    });
  });

  it.each<[number, Json | null, string]>([
    [404, null, 'not_found_error'],
    [429, {}, 'rate_limit_error'],
    [502, { error: 'x' }, 'server_error'],
    [413, { error: { message: 7, status: 7, details: 'x' } }, 'invalid_request_error'],
  ])('of %i without a readable body go by the status', (status, body, type) => {
    expect(googleError(status, body)).toEqual({
      message: `The provider returned status ${status}.`,
      type,
      code: null,
      param: null,
    });
  });

  it('name the field that is wrong', () => {
    const details = [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field: 'contents[0]', description: 'd' }],
      },
    ];
    expect(googleError(400, { error: { message: 'm', status: 'INVALID_ARGUMENT', details } }).param).toBe(
      'contents[0]',
    );
  });

  it('of a prompt that is too long have the code that clients look for', () => {
    const message = 'The input token count (1200293) exceeds the maximum number of tokens allowed (1048576).';
    expect(googleError(400, { error: { message, status: 'INVALID_ARGUMENT' } }).code).toBe(
      'context_length_exceeded',
    );
  });
});
