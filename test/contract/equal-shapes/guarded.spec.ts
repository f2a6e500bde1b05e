import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OddJson } from '../../support/odd-json.js';
import { SeededRandom } from '../../support/random.js';
import { Rig, typed } from './rig.js';

const SEED = SeededRandom.seedFrom('EQUAL_SHAPES_SEED');
const MAIL = 'ada@example.org';

let rig: Rig;
beforeAll(async () => {
  rig = await Rig.start();
});
afterAll(() => rig.close());

interface Spoken {
  readonly slug: string;
  readonly path: string;
  /** A field that contains the text, as JSON. */
  readonly request: (text: string) => readonly [string, string];
  readonly answer: (text: string) => readonly [string, string];
}

const content = (text: string): string =>
  `[ {"role":"user",\n"content" : ${text}, "x":1.0, "n":12345678901234567890} ]`;

const SHAPES: readonly Spoken[] = [
  {
    slug: 'openai',
    path: '/chat/completions',
    request: (text) => ['messages', content(text)],
    answer: (text) => [
      'choices',
      `[{"index":0, "message":{"role":"assistant","content" :${text}},"x":1e3 }]`,
    ],
  },
  {
    slug: 'anthropic',
    path: '/messages',
    request: (text) => ['messages', content(text)],
    answer: (text) => ['content', `[ {"type":"text","text": ${text} , "x":1.0} ]`],
  },
  {
    slug: 'google',
    path: '/models/gemini-2.5-flash:generateContent',
    request: (text) => ['contents', `[{"parts":[ {"text" :${text}} ],"x":1.0}]`],
    answer: (text) => ['candidates', `[ {"content":{"parts":[{"text":${text} }]},"x":1.0} ]`],
  },
  {
    slug: 'cohere',
    path: '/rerank',
    request: (text) => ['documents', `["a" ,${text} , "b"]`],
    answer: (text) => ['results', `[{"index":1,"relevance_score":0.90, "document":{"text":${text}}}]`],
  },
];

const literal = (text: string): string => ` "${text}"`.trim();

async function exchange(
  random: SeededRandom,
  { slug, path, request, answer }: Spoken,
  text: string,
  { isUnambiguous = true, ...config }: { readonly isUnambiguous?: boolean } & Record<string, unknown>,
) {
  const model = path.startsWith('/models/') ? [] : ([['model', '"gpt-4o-mini"']] as const);
  const asked = OddJson.of(random, [...model, request(literal(text))], { hasDuplicates: !isUnambiguous });
  const said = OddJson.of(random, [answer(literal(text))], { hasDuplicates: false });
  const { received, answer: given } = await rig.exchange(
    {
      method: 'POST',
      path: `/v1${path}`,
      headers: {
        'content-type': 'application/json',
        'x-gateway-config': JSON.stringify({ virtual_key: slug, ...config }),
      },
      body: asked.bytes,
    },
    { headers: typed('application/json'), body: said.bytes },
  );
  return {
    asked: asked.text,
    said: said.text,
    received: received?.body.toString(),
    given: given.body.toString(),
  };
}

describe('guardrails change the redacted text and no other byte', () => {
  it.each(SHAPES)('no byte when they find nothing, at $slug', async (shape) => {
    const random = new SeededRandom(SEED);
    const hooks = [
      { 'default.pii': { redact: true } },
      { 'default.contains': { operator: 'none', words: ['Apollo'] }, deny: true },
    ];
    for (let turn = 0; turn < 20; turn++) {
      const { asked, said, received, given } = await exchange(random, shape, 'h\\u00e9llo \\/', {
        input_guardrails: hooks,
        output_guardrails: hooks,
      });
      expect([received, given], `EQUAL_SHAPES_SEED=${SEED}`).toEqual([asked, said]);
    }
  });

  it.each(SHAPES)('in a request at $slug', async (shape) => {
    const random = new SeededRandom(SEED + 1);
    for (let turn = 0; turn < 20; turn++) {
      const { asked, said, received, given } = await exchange(random, shape, `by ${MAIL}`, {
        input_guardrails: [{ 'default.pii': { redact: true } }],
      });
      const [before = '', after = ''] = asked.split(literal(`by ${MAIL}`));
      expect(received?.startsWith(before), `EQUAL_SHAPES_SEED=${SEED} ${received}`).toBe(true);
      expect(received?.endsWith(after)).toBe(true);
      expect(received?.slice(before.length, -after.length)).toMatch(/^"by [^@"]+"$/);
      expect(given).toBe(said);
    }
  });

  it.each(SHAPES.filter(({ slug }) => slug !== 'cohere'))('in a response at $slug', async (shape) => {
    const random = new SeededRandom(SEED + 2);
    for (let turn = 0; turn < 20; turn++) {
      const { asked, said, received, given } = await exchange(random, shape, `by ${MAIL}`, {
        output_guardrails: [{ 'default.pii': { redact: true } }],
        // Duplicate members are refused where a guardrail reads them: here it reads the answer only.
        isUnambiguous: false,
      });
      const [before = '', after = ''] = said.split(literal(`by ${MAIL}`));
      expect(received).toBe(asked);
      expect(given.startsWith(before), `EQUAL_SHAPES_SEED=${SEED} ${given}`).toBe(true);
      expect(given.slice(before.length, -after.length)).toMatch(/^"by [^@"]+"$/);
      expect(given.endsWith(after)).toBe(true);
    }
  });
});
