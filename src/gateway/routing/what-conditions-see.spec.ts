import { request } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { aGateway, type TestGateway } from '../../../test/support/gateway.js';

const CHAT = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] };

let gateway: TestGateway;
const given = async (): Promise<TestGateway> =>
  (gateway = await aGateway({
    virtualKeys: { groq: 'groq', google: 'google' },
    answers: [{ chunks: ['{}'] }],
  }));
afterEach(() => gateway.close());

/** Requests that match the query go to `openai-prod`, all others to `groq`. */
const meets = (query: object): Record<string, string> => ({
  'x-gateway-virtual-key': '',
  'x-gateway-config': JSON.stringify({
    strategy: { mode: 'conditional', conditions: [{ query, then: 'met' }], default: 'other' },
    targets: [
      { name: 'met', virtual_key: 'openai-prod' },
      { name: 'other', virtual_key: 'groq' },
    ],
  }),
});
const MET = 'config.targets[0]';
const placeOf = ({ headers }: Response): string | null => headers.get('x-gateway-last-used-option-index');

/** Sends raw bytes, as some clients do: Node's fetch allows only Latin-1. */
function sendRaw(headers: Readonly<Record<string, Buffer>>): Promise<string> {
  const raw = Object.fromEntries(
    Object.entries(headers).map(([name, bytes]) => [name, bytes.toString('latin1')]),
  );
  return new Promise((resolve, reject) => {
    const sent = request(
      `${gateway.url}/v1/chat/completions`,
      {
        method: 'POST',
        headers: { 'x-gateway-api-key': gateway.key, 'content-type': 'application/json', ...raw },
      },
      (response) => {
        response.resume();
        response.on('end', () => resolve(String(response.headers['x-gateway-last-used-option-index'])));
      },
    );
    sent.on('error', reject);
    // Node joins a text body with the headers and writes both as UTF-8.
    sent.end(Buffer.from(JSON.stringify(CHAT)));
  });
}

describe('a condition on metadata', () => {
  const config = meets({ 'metadata.city': 'München' })['x-gateway-config'] ?? '';
  const metadata = JSON.stringify({ city: 'München', name: 'Zoë 你好' });

  it.each([
    ['UTF-8', 'utf8', 'utf8', 'Zoë 你好'],
    ['UTF-8 in the config and Latin-1 in the metadata', 'utf8', 'latin1', undefined],
    ['Latin-1', 'latin1', 'latin1', undefined],
  ] as const)('reads headers in %s', async (_how, ofConfig, ofMetadata, name) => {
    const { logged } = await given();
    const text = ofMetadata === 'utf8' ? metadata : JSON.stringify({ city: 'München' });

    const place = await sendRaw({
      'x-gateway-config': Buffer.from(config, ofConfig),
      'x-gateway-metadata': Buffer.from(text, ofMetadata),
      'x-gateway-span-name': Buffer.from('Größe', ofMetadata),
    });

    expect(place).toBe(MET);
    const { metadata: seen, span_name } = await logged();
    expect([seen?.city, seen?.name, span_name]).toEqual(['München', name, 'Größe']);
  });

  it("sees the body's user as _user, unless the caller gives one itself", async () => {
    const { chat } = await given();
    const body = { ...CHAT, user: 'ada' };
    const query = meets({ 'metadata._user': 'ada' });

    expect(placeOf(await chat(body, query))).toBe(MET);
    expect(placeOf(await chat(CHAT, query))).not.toBe(MET);
    const said = { ...query, 'x-gateway-metadata': JSON.stringify({ _user: 'bob' }) };
    expect(placeOf(await chat(body, said))).not.toBe(MET);
  });

  it('sees it in the session of a load balance, too', async () => {
    const { chat } = await given();
    const config = {
      strategy: { mode: 'loadbalance', sticky: { enabled: true, hash_fields: ['metadata._user'] } },
      targets: [{ virtual_key: 'openai-prod' }, { virtual_key: 'groq' }],
    };
    const headers = { 'x-gateway-virtual-key': '', 'x-gateway-config': JSON.stringify(config) };

    const places = [];
    for (let at = 0; at < 20; at++) places.push(placeOf(await chat({ ...CHAT, user: 'ada' }, headers)));

    expect(new Set(places).size).toBe(1);
  });
});

describe('a condition on params.model', () => {
  it.each([
    ['before the file', ['model', 'file'], true],
    ['behind a long file', ['file', 'model'], false],
  ])('sees the field of a form that is %s', async (_where, order, isSeen) => {
    const { request: send } = await given();
    const form = new FormData();
    for (const name of order)
      if (name === 'model') form.set('model', 'whisper-1');
      else form.set('file', new File([Buffer.alloc(1024 * 1024)], 'a.wav'));

    const answer = await send('/v1/audio/transcriptions', {
      method: 'POST',
      headers: meets({ 'params.model': 'whisper-1' }),
      body: form,
    });

    expect(placeOf(answer) === MET).toBe(isSeen);
  });

  it("sees the model in the path of Google's calls", async () => {
    const { request: send } = await given();
    const config = {
      strategy: {
        mode: 'conditional',
        conditions: [{ query: { 'params.model': { $regex: '^gemini' } }, then: 'g' }],
      },
      targets: [{ name: 'g', virtual_key: 'google' }],
    };

    const answer = await send('/v1beta/models/gemini-2.5-pro:generateContent', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-gateway-config': JSON.stringify(config) },
      body: JSON.stringify({ contents: [{ parts: [{ text: 'Hi' }] }] }),
    });

    expect(placeOf(answer)).toBe(MET);
  });
});
