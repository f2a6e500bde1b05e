import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { LAST_WORDS, THOUGHT, USAGE } from '../../support/upstreams/strict/scene.js';
import { type Interpreter, pythonWith } from './python/interpreter.js';
import { PIXEL, type Place, PLACES, StrictPlaces } from './strict-places.js';

/** The agents of pydantic-ai and LlamaIndex, unmodified, against providers that check what they document. */
interface Case {
  readonly framework: Framework;
  /** The framework's class. */
  readonly client: string;
  readonly provider: string;
  readonly model: string;
  readonly thinks: boolean;
  readonly streamed: boolean;
}

/** The report of `play.py` on a case. */
interface Told {
  readonly id: number;
  readonly error?: string;
  readonly trace?: readonly string[];
  /** Of the first turn and the second. */
  readonly texts?: readonly string[];
  readonly calls?: readonly (readonly [name: string, input: object])[];
  readonly thoughts?: readonly string[];
  readonly usage?: Readonly<Record<'input' | 'cached' | 'output', number>>;
}

type Framework = 'pydantic-ai' | 'LlamaIndex';
/** The file of packages that each needs. */
const PACKAGES: Readonly<Record<Framework, string>> = {
  'pydantic-ai': 'pydantic-ai',
  LlamaIndex: 'llama-index',
};

const isOf = (provider: string) => (place: Place) => place.provider === provider;
const isClaude = ({ model }: Place): boolean => model.includes('claude');
const all = (): boolean => true;

/** The models of each class. Google's own format works only with Google; LlamaIndex's Anthropic class supports only Claude. */
const CLIENTS: readonly (readonly [Framework, string, (place: Place) => boolean])[] = [
  ['pydantic-ai', 'OpenAIChatModel', all],
  ['pydantic-ai', 'OpenAIResponsesModel', all],
  ['pydantic-ai', 'AnthropicModel', all],
  ['pydantic-ai', 'GoogleModel', isOf('google')],
  ['LlamaIndex', 'OpenAILike', all],
  ['LlamaIndex', 'OpenAIResponses', all],
  ['LlamaIndex', 'Anthropic', isClaude],
];

/** The first model of each provider also answers without a stream. */
const ALSO_PLAIN = new Set(PLACES.filter((it) => it === PLACES.find(isOf(it.provider))));

/** Models that can think do so only in streams. */
const CASES = CLIENTS.flatMap(([framework, client, isPlayed]) =>
  PLACES.filter(isPlayed).flatMap((place) =>
    (ALSO_PLAIN.has(place) ? [true, false] : [true]).map((streamed): Case => {
      const { provider, model } = place;
      const thinks = streamed && model !== 'gpt-4o';
      return { framework, client, provider, model, thinks, streamed };
    }),
  ),
).map((it, id) => ({ ...it, id }));

const CALLS = [
  ['weather', { city: 'Rome' }],
  ['population', { city: 'Oslo' }],
];
/** The first question, the results of the tools, the second question. */
const REQUESTS_EACH = 3;
const MINUTES = 60_000;

let places: StrictPlaces;
const pythons = new Map<Framework, Interpreter>();
const told = new Map<number, Told>();

beforeAll(async () => {
  places = await StrictPlaces.create('python');
  const frameworks = Object.keys(PACKAGES) as Framework[];
  await Promise.all(frameworks.map(install));
  for (const framework of frameworks) await play(framework);
}, 10 * MINUTES);
afterAll(() => places.close());

async function install(framework: Framework): Promise<void> {
  pythons.set(framework, await pythonWith(PACKAGES[framework]));
}

/** Plays the cases of a framework in one process. */
async function play(framework: Framework): Promise<void> {
  const python = pythons.get(framework);
  if (!python || 'missing' in python) return;
  const script = fileURLToPath(new URL('python/play.py', import.meta.url));
  const child = spawn(python.path, [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  const cases = CASES.filter((it) => it.framework === framework).map((it) => ({
    ...it,
    headers: places.headersFor(it.provider),
  }));
  child.stdin.end(JSON.stringify({ root: places.root, image: PIXEL, cases }));
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')]);
  for (const line of output.split('\n').filter(Boolean)) {
    const found = JSON.parse(line) as Told;
    told.set(found.id, found);
  }
}

function skipWithout(framework: Framework, { skip }: TestContext): void {
  const python = pythons.get(framework);
  if (python && 'missing' in python) skip(python.missing);
}

describe.each(CASES)(
  '$framework, $client, $model of $provider, streamed $streamed, thinking $thinks',
  ({ id, framework, thinks, model }) => {
    it('calls tools, returns their results and responds twice', (context) => {
      skipWithout(framework, context);
      const found = told.get(id);

      expect([found?.error, found?.trace]).toEqual([undefined, undefined]);
      expect(found?.calls).toEqual(CALLS);
      expect(found?.texts).toEqual([LAST_WORDS, LAST_WORDS]);
      if (framework !== 'pydantic-ai') return;
      expect(found?.usage).toEqual({
        input: 2 * USAGE.input,
        cached: 2 * USAGE.cached,
        output: 2 * USAGE.output,
      });
      if (thinks && model.includes('claude')) expect(found?.thoughts).toContain(THOUGHT);
    });
  },
);

it('the providers accept every request of the agents in Python', () => {
  places.checkAccepted(told.size * REQUESTS_EACH);
});
