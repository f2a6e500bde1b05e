import { randomBytes } from 'node:crypto';
import { createOpenAI } from '@ai-sdk/openai';
import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import { AzureChatOpenAI, ChatOpenAI } from '@langchain/openai';
import { Mistral } from '@mistralai/mistralai';
import { generateText } from 'ai';
import { CohereClientV2 } from 'cohere-ai';
import OpenAI, { AzureOpenAI } from 'openai';
import { Portkey } from 'portkey-ai';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { documentedBlocks } from '../support/documented-commands.js';
import { LAST_WORDS } from '../support/upstreams/strict/scene.js';
import { StrictPlaces } from './agents/strict-places.js';

/** The code of docs/clients.md that makes clients, as the page has it: a wrong line fails here. */
const CONSTRUCTORS = {
  OpenAI,
  Anthropic,
  GoogleGenAI,
  Mistral,
  CohereClientV2,
  createOpenAI,
  ChatOpenAI,
  Portkey,
  AzureOpenAI,
  AzureChatOpenAI,
};
type Name = keyof typeof CONSTRUCTORS;
type Client<T extends Name> = (typeof CONSTRUCTORS)[T] extends abstract new (...options: never[]) => infer C
  ? C
  : (typeof CONSTRUCTORS)[T] extends (...options: never[]) => infer C
    ? C
    : never;

const STATEMENT = /^(?:new )?(\w+)\([\s\S]*?\);/gm;
const blocks = documentedBlocks('docs/clients.md').filter(({ language }) => language === 'ts');
const EXPRESSIONS = new Map(
  blocks.flatMap(({ text }) =>
    [...text.matchAll(STATEMENT)].map(([code, name]): [string, string] => [name ?? '', code.slice(0, -1)]),
  ),
);

let places: StrictPlaces;
let cohere = '';
beforeAll(async () => {
  places = await StrictPlaces.create('recipes');
  const { administration, providerSecret: secret, upstream } = places.world;
  cohere = await administration.createVirtualKey({
    name: `cohere-${randomBytes(4).toString('hex')}`,
    provider: 'cohere',
    secret,
    customHost: upstream.url,
  });
  upstream.on('/v2/chat', {
    headers: [['content-type', 'application/json']],
    body: JSON.stringify({
      id: 'chat_1',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text: LAST_WORDS }] },
      usage: { billed_units: { input_tokens: 1, output_tokens: 1 } },
    }),
  });
});
afterAll(() => places.close());

/** The client that the page's code makes, with the address, the key and the virtual key of this test. */
function made<T extends Name>(name: T, slug: string, model = ''): Client<T> {
  const expression = EXPRESSIONS.get(name);
  if (expression === undefined) throw new Error(`docs/clients.md does not make a client with ${name}.`);
  const scope = {
    ...CONSTRUCTORS,
    BASE: places.root,
    WORKSPACE_API_KEY: places.world.apiKey.key,
    headers: { 'x-gateway-virtual-key': slug },
    model,
  };
  const evaluate = new Function(
    ...Object.keys(scope),
    `return ${expression.replaceAll('openai-prod', slug)}`,
  );
  return evaluate(...Object.values(scope)) as Client<T>;
}

const HELLO = [{ role: 'user' as const, content: 'hello' }];
const openAi = () => places.slugOf('openai');
const anthropic = () => places.slugOf('anthropic');

const CASES: Readonly<Record<Name, () => Promise<unknown>>> = {
  OpenAI: async () =>
    (await made('OpenAI', openAi()).chat.completions.create({ model: 'gpt-4o', messages: HELLO })).choices[0]
      ?.message.content,
  Anthropic: async () =>
    (
      await made('Anthropic', anthropic()).messages.create({
        model: 'claude-opus-4-8',
        max_tokens: 100,
        messages: HELLO,
      })
    ).content,
  GoogleGenAI: async () =>
    (
      await made('GoogleGenAI', places.slugOf('google')).models.generateContent({
        model: 'gemini-2.5-flash',
        contents: 'hello',
      })
    ).text,
  Mistral: async () =>
    (
      await made('Mistral', openAi()).chat.complete(
        { model: 'gpt-4o', messages: HELLO },
        { fetchOptions: { headers: { 'x-gateway-virtual-key': openAi() } } },
      )
    ).choices[0]?.message?.content,
  CohereClientV2: async () =>
    (await made('CohereClientV2', cohere).chat({ model: 'command-a-03-2025', messages: HELLO })).message,
  createOpenAI: async () =>
    (await generateText({ model: made('createOpenAI', openAi()).chat('gpt-4o'), prompt: 'hello' })).text,
  ChatOpenAI: async () => (await made('ChatOpenAI', openAi(), 'gpt-4o').invoke('hello')).content,
  Portkey: async () =>
    (await made('Portkey', openAi()).chat.completions.create({ model: 'gpt-4o', messages: HELLO })).choices[0]
      ?.message?.content,
  AzureOpenAI: async () =>
    (await made('AzureOpenAI', openAi()).chat.completions.create({ model: 'gpt-4o', messages: HELLO }))
      .choices[0]?.message.content,
  AzureChatOpenAI: async () => (await made('AzureChatOpenAI', openAi()).invoke('hello')).content,
};

it.each(Object.entries(CASES))(
  'the code of docs/clients.md makes a client with %s that gets a response',
  async (_, ask) => {
    expect(JSON.stringify(await ask())).toContain(LAST_WORDS);
  },
);

it('every client that the page makes is tested', () => {
  expect([...EXPRESSIONS.keys()].sort()).toEqual(Object.keys(CASES).sort());
});
