import type { FastifyRequest } from 'fastify';
import { describe, expect, it } from 'vitest';
import { checkOrigin } from './check-origin.js';

const PUBLIC_URL = 'https://gateway.example.com/';
const OWN = 'https://gateway.example.com';

type OriginHeaders = Readonly<Record<string, string>>;

function isAccepted(headers: OriginHeaders, publicUrl?: string): boolean {
  const request = { method: 'POST', raw: { headers: { 'x-gateway-csrf': '1', ...headers } } };
  try {
    checkOrigin(request as unknown as FastifyRequest, publicUrl);
    return true;
  } catch {
    return false;
  }
}

describe('checkOrigin with a public URL', () => {
  it.each<[string, OriginHeaders, boolean]>([
    ['of the service', { 'sec-fetch-site': 'same-origin', origin: OWN, host: 'gateway.example.com' }, true],
    [
      'of the service, behind a proxy that rewrites Host',
      { 'sec-fetch-site': 'same-origin', origin: OWN, host: '10.0.0.1:8787' },
      true,
    ],
    ['of the service, in an old browser', { origin: OWN, host: '10.0.0.1:8787' }, true],
    [
      'of a name that resolves to the service',
      { 'sec-fetch-site': 'same-origin', origin: 'http://evil.test', host: 'evil.test' },
      false,
    ],
    ['of such a name, in an old browser', { origin: 'http://evil.test', host: 'evil.test' }, false],
    [
      'of the same host over http',
      { 'sec-fetch-site': 'same-origin', origin: 'http://gateway.example.com' },
      false,
    ],
    ['of another port', { 'sec-fetch-site': 'same-origin', origin: `${OWN}:8443` }, false],
    ['of an opaque origin', { 'sec-fetch-site': 'same-origin', origin: 'null' }, false],
    ['of a sibling host', { 'sec-fetch-site': 'same-site', origin: OWN }, false],
    ['of nowhere', {}, false],
  ])('judges a page %s', (_, headers, expected) => {
    expect(isAccepted(headers, PUBLIC_URL)).toBe(expected);
  });
});

describe('checkOrigin without a public URL', () => {
  it.each<[string, OriginHeaders, boolean]>([
    ['of the same origin', { 'sec-fetch-site': 'same-origin', origin: 'http://localhost:8787' }, true],
    [
      'of the same host, in an old browser',
      { origin: 'http://localhost:8787', host: 'localhost:8787' },
      true,
    ],
    ['of another host, in an old browser', { origin: 'http://evil.test', host: 'localhost:8787' }, false],
    ['of another site', { 'sec-fetch-site': 'cross-site', origin: 'http://evil.test' }, false],
  ])('judges a page %s', (_, headers, expected) => {
    expect(isAccepted(headers)).toBe(expected);
  });
});
