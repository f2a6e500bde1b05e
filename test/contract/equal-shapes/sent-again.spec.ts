import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OddJson } from '../../support/odd-json.js';
import { cut, FRAMINGS } from '../../support/odd-streams.js';
import { SeededRandom } from '../../support/random.js';
import type { Received, Script } from '../../support/upstreams/echo.js';
import { CASES } from './endpoint-cases.js';
import { oddForm } from './odd-form.js';
import { Rig, typed } from './rig.js';

const SEED = SeededRandom.seedFrom('EQUAL_SHAPES_SEED');
const MODEL = 'gpt-4o-mini';
const [CHAT] = CASES;
const FAILURE: Script = { status: 503, headers: typed('application/json'), body: '{ "error":1.0 }' };

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

const oddChat = (random: SeededRandom, isStreamed: boolean): OddJson =>
  OddJson.of(random, [
    ['model', `"${MODEL}"`],
    ...(CHAT?.request ?? []),
    ...(isStreamed ? ([['stream', 'true']] as const) : []),
  ]);

const send = (path: string, config: object, type: string, body: Buffer, script: Script, later?: Script) =>
  rig.exchange(
    {
      method: 'POST',
      path,
      headers: { 'content-type': type, 'x-gateway-config': JSON.stringify(config) },
      body,
    },
    script,
    later,
  );

const bytesOf = (all: readonly Received[]): string[] => all.map(({ body }) => body.toString('latin1'));

describe('the same bytes are sent again', () => {
  const again = [
    { title: 'a retry', config: { virtual_key: 'openai', retry: { attempts: 1, on_status_codes: [503] } } },
    {
      title: 'a fallback to another provider of the same shape',
      config: {
        strategy: { mode: 'fallback' },
        targets: [{ virtual_key: 'openai' }, { virtual_key: 'groq' }],
      },
    },
  ];

  it.each(again)('by $title', async ({ config }) => {
    const random = new SeededRandom(SEED);
    for (let turn = 0; turn < 10; turn++) {
      const { bytes } = oddChat(random, false);
      const said = OddJson.of(random, CHAT?.answer ?? []);
      const answer = { headers: typed('application/json'), body: said.bytes };

      const done = await send('/v1/chat/completions', config, 'application/json', bytes, FAILURE, answer);

      const text = bytes.toString('latin1');
      expect(bytesOf(done.all), `EQUAL_SHAPES_SEED=${SEED}`).toEqual([text, text]);
      expect(done.answer.body.toString()).toBe(said.text);
    }
  });

  it.each(again)('by $title, for a form', async ({ config }) => {
    const random = new SeededRandom(SEED + 1);
    for (let turn = 0; turn < 10; turn++) {
      const { type, bytes } = oddForm(random, MODEL, false);
      const answer = { headers: typed('text/plain'), body: ' text\n' };

      const done = await send('/v1/audio/transcriptions', config, type, bytes, FAILURE, answer);

      const text = bytes.toString('latin1');
      expect(bytesOf(done.all), `EQUAL_SHAPES_SEED=${SEED}`).toEqual([text, text]);
      expect(done.answer.body.toString()).toBe(' text\n');
    }
  });

  it('the client receives the bytes of the last refusal when every target refuses', async () => {
    const random = new SeededRandom(SEED + 2);
    const { bytes } = oddChat(random, false);
    const config = again[1]?.config ?? {};

    const done = await send('/v1/chat/completions', config, 'application/json', bytes, FAILURE, FAILURE);

    expect([done.all.length, done.answer.status, done.answer.body.toString()]).toEqual([
      2,
      503,
      FAILURE.body,
    ]);
  });
});

describe('the cache returns the bytes of the provider', () => {
  const config = { virtual_key: 'openai', cache: { mode: 'simple' } };
  const asked = (seed: string): Buffer =>
    Buffer.from(
      `{ "model" : "${MODEL}",\n "messages":[{"role":"user","content":"${seed} h\\u00e9"}], "n":1.0 }\n`,
    );
  /** A client that does not request the usage receives a stream without it. */
  const STREAMED = '"stream":true, "stream_options":{"include_usage" :true}';
  /** The cache does not recognize the end of this stream, so it does not store it. */
  const unkept = 'more blank lines, and an end without one';

  it.each(Object.entries(FRAMINGS))('for a stream: %s', async (title, framing) => {
    const random = new SeededRandom(SEED + 3);
    const bytes = Buffer.from(asked(title).toString().replace('"n":1.0', STREAMED));
    const stream = Buffer.from(framing(CHAT?.events ?? []));
    const script = { headers: typed('text/event-stream'), body: cut(random, stream) };

    const first = await send('/v1/chat/completions', config, 'application/json', bytes, script);
    const second = await send('/v1/chat/completions', config, 'application/json', bytes, script);

    expect([first.all.length, second.all.length]).toEqual([1, title === unkept ? 1 : 0]);
    expect([first, second].map(({ answer }) => answer.body.toString())).toEqual([
      stream.toString(),
      stream.toString(),
    ]);
  });

  it('for a plain response', async () => {
    const random = new SeededRandom(SEED + 4);
    const said = OddJson.of(random, CHAT?.answer ?? []);
    const script = { headers: typed('application/json'), body: said.bytes };

    const first = await send('/v1/chat/completions', config, 'application/json', asked('plain'), script);
    const second = await send('/v1/chat/completions', config, 'application/json', asked('plain'), script);

    expect([first.all.length, second.all.length]).toEqual([1, 0]);
    expect([first, second].map(({ answer }) => answer.body.toString())).toEqual([said.text, said.text]);
  });
});

describe('a Google stream in the form of a JSON array', () => {
  it('passes byte for byte and is metered', async () => {
    const random = new SeededRandom(SEED + 5);
    const google = CASES.find(({ endpoint }) => endpoint === 'generate-content');
    const asked = OddJson.of(random, google?.request ?? []);
    const stream = Buffer.from(`[\r\n${(google?.events ?? []).join('\n ,\r\n')}\t]\n`);
    const { answer, all } = await send(
      '/v1beta/models/gemini-2.5-flash:streamGenerateContent',
      { virtual_key: 'google' },
      'application/json',
      asked.bytes,
      { headers: typed('application/json; charset=UTF-8'), body: cut(random, stream) },
    );

    expect(bytesOf(all)).toEqual([asked.bytes.toString('latin1')]);
    expect(answer.body.toString()).toBe(stream.toString());
    const logged = rig.gateway.logs.find(({ record }) => record.id === answer.requestId);
    expect(logged?.record.usage).toMatchObject({ input_tokens: 12, output_tokens: 3 });
  });
});
