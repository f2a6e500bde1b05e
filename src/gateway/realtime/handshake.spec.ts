import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { mintApiKey } from '../../common/crypto/api-key-format.js';
import { modelQuery } from './model-query.js';
import { Secret } from '../../common/crypto/secret.js';
import { addSubprotocols, takeKeyFromSubprotocols } from '../upstream/subprotocols.js';

const gatewayKey = mintApiKey('ws').reveal();
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
    expect(modelQuery(query)).toEqual({ query: rewritten, model, slug });
  });
});

function subprotocolsFor(request: IncomingMessage, hasStoredCredential: boolean): string | undefined {
  const headers: string[] = [];
  const key = hasStoredCredential ? new Secret('sk-stored') : null;
  addSubprotocols(headers, request, { credentials: { key, fields: {} } });
  return headers[1];
}

describe('subprotocols', () => {
  it('give their gateway key to the door, and keep it from the provider', () => {
    const request = asking(`realtime, openai-insecure-api-key.${gatewayKey}`);
    takeKeyFromSubprotocols(request);
    expect(request.headers['x-gateway-api-key']).toBe(gatewayKey);
    expect(subprotocolsFor(request, true)).toBe('realtime');
    expect(subprotocolsFor(request, false)).toBe('realtime');
  });

  it('never replace a key that a header presents', () => {
    const other = mintApiKey('ws').reveal();
    const request = asking(`openai-insecure-api-key.${gatewayKey}`, { authorization: `Bearer ${other}` });
    takeKeyFromSubprotocols(request);
    expect(request.headers['x-gateway-api-key']).toBeUndefined();
    expect(subprotocolsFor(request, false)).toBeUndefined();
  });

  it("pass the caller's own key on only where the gateway adds none", () => {
    const request = asking('realtime, openai-insecure-api-key.sk-mine', { 'x-gateway-api-key': gatewayKey });
    expect(subprotocolsFor(request, false)).toBe('realtime, openai-insecure-api-key.sk-mine');
    expect(subprotocolsFor(request, true)).toBe('realtime');
  });
});
