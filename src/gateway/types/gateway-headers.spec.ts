import { describe, expect, it } from 'vitest';
import { AppError } from '../../common/errors/app-error.js';
import { readGatewayHeaders } from './gateway-headers.js';

const messageOf = (headers: Record<string, string>): string => {
  try {
    readGatewayHeaders(headers);
  } catch (error) {
    if (error instanceof AppError) return error.message;
  }
  return 'accepted';
};

describe('a number in a header', () => {
  it.each([
    ['x-gateway-request-timeout', '5s', 'it must be a whole number of milliseconds, at most 1800000.'],
    ['x-gateway-request-timeout', '1800001', 'it must be a whole number of milliseconds, at most 1800000.'],
    ['x-gateway-retry-count', '9', 'it must be a whole number of retries, at most 5.'],
  ])('%s: %s is refused with its unit and its maximum', (header, value, rule) => {
    expect(messageOf({ [header]: value })).toBe(`The header "${header}" is invalid: ${rule}`);
  });

  it('is accepted up to its maximum', () => {
    expect(readGatewayHeaders({ 'x-gateway-request-timeout': '1800000' }).timeoutMs).toBe(1_800_000);
  });
});
