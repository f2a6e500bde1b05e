import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { aCaller } from '../../../test/support/gateway.js';
import { IdentityService } from '../../auth/identity/identity.service.js';
import { mintApiKey } from '../../common/crypto/api-key-format.js';
import { ClientAddresses } from '../../common/http/client-address.js';
import { realtimeModelQuery } from './handshake.js';
import { Secret } from '../../common/settings/secret.js';
import { addSubprotocols, takeKeyFromQuery, takeKeyFromSubprotocols } from '../upstream/subprotocols.js';

const gatewayKey = mintApiKey('ws').reveal();
const identity = new IdentityService(
  {
    find: (key) => (key === gatewayKey ? { principal: aCaller(), expiresAt: null } : null),
    endOf: () => Promise.resolve(null),
  },
  { find: () => null, isOurs: () => false },
  new ClientAddresses([]),
);
const codeOf = (request: IncomingMessage): string => {
  try {
    void identity.identify(request);
    return 'known';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const asking = (protocols: string, headers: Record<string, string> = {}): IncomingMessage =>
  ({ headers: { ...headers, 'sec-websocket-protocol': protocols } }) as unknown as IncomingMessage;

describe('the model of a session', () => {
  it.each([
    ['?model=gpt-realtime', '?model=gpt-realtime', 'gpt-realtime', null],
    ['?model=%40prod%2Fgpt-realtime', '?model=gpt-realtime', 'gpt-realtime', 'prod'],
    ['?a=1&model=@prod/org/m&b=2', '?a=1&model=org%2Fm&b=2', 'org/m', 'prod'],
    ['?api-version=1&deployment=mine', '?api-version=1&deployment=mine', 'mine', null],
    ['?remodel=x', '?remodel=x', null, null],
    ['?model=', '?model=', null, null],
    ['?model=%zz', '?model=%zz', '%zz', null],
    ['', '', null, null],
  ])('%s', (query, rewritten, model, slug) => {
    expect(realtimeModelQuery(query)).toEqual({ query: rewritten, model, slug });
  });

  it.each([
    '?model=cheap&model=dear',
    '?model=same&model=same',
    '?model=cheap&%6dodel=dear',
    '?model=cheap&deployment=dear',
    '?deployment=@prod/cheap&a=1&deployment=dear',
  ])('must not be named twice, as providers differ in which one they use: %s', (query) => {
    expect(() => realtimeModelQuery(query)).toThrow(/names the model 2 times/);
  });
});

function subprotocolsFor(request: IncomingMessage, hasStoredCredential: boolean): string | undefined {
  const headers: string[] = [];
  const key = hasStoredCredential ? new Secret('sk-stored') : null;
  addSubprotocols(headers, request, { credentials: { key, fields: {} } });
  return headers[1];
}

describe('subprotocols', () => {
  it('authenticate by their gateway key, which the provider does not receive', () => {
    const request = asking(`realtime, openai-insecure-api-key.${gatewayKey}`);
    takeKeyFromSubprotocols(request);
    expect(request.headers['x-gateway-api-key']).toBe(gatewayKey);
    expect(subprotocolsFor(request, true)).toBe('realtime');
    expect(subprotocolsFor(request, false)).toBe('realtime');
  });

  it('never replace a key that a header presents: another one beside it is ambiguous', () => {
    const other = mintApiKey('ws').reveal();
    const request = asking(`openai-insecure-api-key.${gatewayKey}`, { authorization: `Bearer ${other}` });
    takeKeyFromSubprotocols(request);
    expect(codeOf(request)).toBe('ambiguous_credentials');
    expect(subprotocolsFor(request, false)).toBeUndefined();
  });

  it('may repeat the key of a header', () => {
    const request = asking(`openai-insecure-api-key.${gatewayKey}`, {
      authorization: `Bearer ${gatewayKey}`,
    });
    takeKeyFromSubprotocols(request);
    expect(codeOf(request)).toBe('known');
  });

  it("pass the caller's own key on only where the gateway adds none", () => {
    const request = asking('realtime, openai-insecure-api-key.sk-mine', { 'x-gateway-api-key': gatewayKey });
    expect(subprotocolsFor(request, false)).toBe('realtime, openai-insecure-api-key.sk-mine');
    expect(subprotocolsFor(request, true)).toBe('realtime');
  });
});

describe('the key in the query of a Gemini Live session', () => {
  const path = '/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent';
  const opening = (url: string, headers: Record<string, string> = {}): IncomingMessage =>
    ({ url, headers, socket: {} }) as unknown as IncomingMessage;

  it.each([
    [`${path}?key=${gatewayKey}`, path],
    [`/v1${path}?key=${gatewayKey}`, `/v1${path}`],
    [`/${path}?key=${gatewayKey}`, `/${path}`],
    [`${path}?a=%2f&key=${gatewayKey}&b`, `${path}?a=%2f&b`],
    [`${path}?key=${gatewayKey}&key=${gatewayKey}`, path],
  ])('is the gateway key, and stays here', (url, left) => {
    const request = opening(url);
    takeKeyFromQuery(request);
    expect(request.url).toBe(left);
    expect(codeOf(request)).toBe('known');
  });

  it('is left where it is no gateway key, or another path', () => {
    for (const url of [
      `${path}?key=mine`,
      path,
      `/v1/models?key=${gatewayKey}`,
      `/v1/realtime?key=${gatewayKey}`,
    ]) {
      const request = opening(url);
      takeKeyFromQuery(request);
      expect([request.url, request.headers]).toEqual([url, {}]);
    }
  });

  it('is ambiguous beside another one', () => {
    const other = mintApiKey('ws').reveal();
    const beside = [
      opening(`${path}?key=${gatewayKey}`, { 'x-gateway-api-key': other }),
      opening(`${path}?key=${gatewayKey}`, { 'x-goog-api-key': other }),
      opening(`${path}?key=${gatewayKey}&key=${other}`),
    ];
    for (const request of beside) {
      takeKeyFromQuery(request);
      expect(request.url).toBe(path);
      expect(codeOf(request)).toBe('ambiguous_credentials');
    }
  });
});
