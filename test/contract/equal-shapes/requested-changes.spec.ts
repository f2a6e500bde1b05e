import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { own } from '../../../src/providers/dialects/untranslated.js';
import type { Provider } from '../../../src/providers/provider.js';
import { OddJson } from '../../support/odd-json.js';
import { SeededRandom } from '../../support/random.js';
import { CASES, type EndpointCase } from './endpoint-cases.js';
import { oddForm } from './odd-form.js';
import { CALLED, Rig, typed } from './rig.js';
import { SPOKEN } from './spoken.js';
import { targetOf } from './targets.js';

const SEED = SeededRandom.seedFrom('EQUAL_SHAPES_SEED');
const MODEL = 'gpt-4o-mini';
const OTHER = 'żółw "4".1';
const PLAIN_OTHER = 'other-model.1';
const ANSWER = { headers: typed('application/json'), body: '{ "n":1.0 }' };

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

const speakers = CALLED.filter((row) => SPOKEN[row.id] !== undefined && row.dialect !== own);
const casesOf = ({ id }: Provider): readonly EndpointCase[] =>
  CASES.filter(({ endpoint }) => (SPOKEN[id] ?? '').split(' ').includes(endpoint));
const namesModel = ({ path }: EndpointCase): boolean => !path.startsWith('/models/');
/** Azure puts the model into the path as a deployment, which must be a plain segment. */
const otherFor = ({ id }: Provider): string => (id.startsWith('azure-openai') ? PLAIN_OTHER : OTHER);

function odd(random: SeededRandom, one: EndpointCase, model: string): OddJson {
  const named = namesModel(one) ? ([['model', JSON.stringify(model)]] as const) : [];
  const json = OddJson.of(random, [...named, ...one.request, ['temperature', '0.70']]);
  const spelled = random.is(0.3) ? json.escaped('model') : json;
  return random.is(0.2) ? spelled.twice('model', JSON.stringify(model)) : spelled;
}

interface RequestedChange {
  readonly headers: Readonly<Record<string, string>>;
  readonly given: OddJson;
  readonly expected: OddJson;
}

async function compare(
  provider: Provider,
  one: EndpointCase,
  { headers, given, expected }: RequestedChange,
  model: string,
) {
  const title = `${provider.id} ${one.endpoint} (EQUAL_SHAPES_SEED=${SEED})`;
  const { received, answer } = await rig.exchange(
    {
      method: 'POST',
      path: `/v1${one.path}?a=%2f`,
      headers: { 'content-type': 'application/json', ...headers },
      body: given.bytes,
    },
    ANSWER,
  );
  if (!received) throw new Error(`${title}: nothing was sent, ${answer.body.toString()}`);
  expect(received.body.toString(), title).toBe(expected.text);
  expect(received.target, title).toBe(targetOf(provider, one.endpoint, `${one.path}?a=%2f`, model));
  expect(answer.body.toString(), title).toBe(ANSWER.body);
}

/** Headers are ASCII. */
const ascii = (json: string): string =>
  json.replaceAll(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);

const configured = ({ id }: Provider, params: object): RequestedChange['headers'] => ({
  'x-gateway-config': ascii(JSON.stringify({ virtual_key: id, ...params })),
});

describe('a requested change alters its own bytes only', () => {
  it.each(speakers)('`@slug/model` at $id', async (provider) => {
    const random = new SeededRandom(SEED);
    for (const one of casesOf(provider).filter((it) => it.body === 'json' && namesModel(it))) {
      const given = odd(random, one, `@${provider.id}/${MODEL}`);
      const expected = given.with('model', JSON.stringify(MODEL));
      await compare(provider, one, { headers: {}, given, expected }, MODEL);
    }
  });

  it.each(speakers)('config parameters at $id', async (provider) => {
    const random = new SeededRandom(SEED + 1);
    for (const one of casesOf(provider).filter(({ body }) => body === 'json')) {
      const model = otherFor(provider);
      const isNamed = namesModel(one);
      const given = odd(random, one, MODEL);
      const renamed = isNamed ? given.with('model', JSON.stringify(model)) : given;
      const headers = configured(provider, {
        override_params: { ...(isNamed && { model }), temperature: 0.5 },
        default_params: { seed: 7, temperature: 1 },
        drop_params: ['missing'],
      });
      const expected = renamed.with('temperature', '0.5').plus('seed', '7');
      await compare(provider, one, { headers, given, expected }, model);
    }
  });

  it.each(speakers)('no bytes for a config without parameters, at $id', async (provider) => {
    const random = new SeededRandom(SEED + 2);
    for (const one of casesOf(provider).filter(({ body }) => body === 'json')) {
      const given = odd(random, one, MODEL);
      const headers = configured(provider, { retry: { attempts: 2 }, cache: { mode: 'off' } });
      await compare(provider, one, { headers, given, expected: given }, MODEL);
    }
  });

  it.each(['openai', 'groq', 'vllm', 'azure-openai'])('`@slug/model` in a form at %s', async (slug) => {
    const random = new SeededRandom(SEED + 3);
    for (let turn = 0; turn < 5; turn++) {
      const { type, bytes } = oddForm(random, `@${slug}/${MODEL}`, false);
      const { received } = await rig.exchange(
        {
          method: 'POST',
          path: '/v1/audio/transcriptions',
          headers: { 'content-type': type },
          body: bytes,
        },
        ANSWER,
      );
      expect(received?.body.toString('latin1'), `EQUAL_SHAPES_SEED=${SEED}`).toBe(
        bytes.toString('latin1').replace(`@${slug}/${MODEL}`, MODEL),
      );
    }
  });
});
