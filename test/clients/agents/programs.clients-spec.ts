import { afterAll, beforeAll, expect, it } from 'vitest';
import { LAST_WORDS, type MoveOf, USAGE } from '../../support/upstreams/strict/scene.js';
import { CLAUDE_CODE, CODEX, GEMINI_CLI, OPENCODE } from './programs/catalog.js';
import { type Program, run, TOOL_FILE } from './programs/program.js';
import { adapted, placed, recipeOf } from './programs/recipes.js';
import { StrictPlaces } from './strict-places.js';

/** The coding agents themselves, set up as docs/clients.md says, with a model that runs one command in their shell. */
const COMMAND = `touch ${TOOL_FILE}`;
/** The shell of each agent, with the arguments that it requires. */
const SHELLS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Bash: { command: COMMAND, description: 'Creates a file' },
  exec_command: { cmd: COMMAND },
  run_shell_command: { command: COMMAND, description: 'Creates a file' },
  bash: { command: COMMAND, description: 'Creates a file' },
};

const callsShell: MoveOf = (tools, hasResults) => {
  const shell = tools.find((name) => name in SHELLS);
  if (hasResults || shell === undefined) return { text: LAST_WORDS, calls: [] };
  return { text: 'I run it.', calls: [{ name: shell, input: SHELLS[shell] ?? {} }] };
};

interface Case {
  readonly program: Program;
  readonly at: string;
  /** Names of the recipe, and what replaces them for this provider. */
  readonly names: Readonly<Record<string, string>>;
}

const MODEL = '@anthropic-prod/claude-opus-4-8';
const GEMINI = '@google-prod/gemini-3-pro-preview';
const CASES: readonly Case[] = [
  { program: CLAUDE_CODE, at: 'Anthropic', names: {} },
  { program: CLAUDE_CODE, at: 'OpenAI', names: { [MODEL]: '@openai-prod/gpt-5' } },
  { program: CLAUDE_CODE, at: 'Google', names: { [MODEL]: GEMINI } },
  {
    program: CLAUDE_CODE,
    at: 'Bedrock',
    names: { [MODEL]: '@bedrock-prod/anthropic.claude-sonnet-4-5-20250929-v1:0' },
  },
  { program: CODEX, at: 'OpenAI', names: { 'claude-opus-4-8': 'gpt-5.5', 'anthropic-prod': 'openai-prod' } },
  { program: CODEX, at: 'Anthropic', names: {} },
  {
    program: CODEX,
    at: 'Google',
    names: { 'claude-opus-4-8': 'gemini-3-pro-preview', 'anthropic-prod': 'google-prod' },
  },
  { program: GEMINI_CLI, at: 'Google', names: {} },
  { program: OPENCODE, at: 'OpenAI', names: { [`gatehouse/${MODEL}`]: 'openai/gpt-5.5' } },
  { program: OPENCODE, at: 'Anthropic', names: {} },
  { program: OPENCODE, at: 'Google', names: { [MODEL]: GEMINI } },
];
const LIMIT_MS = 100_000;

let places: StrictPlaces;
beforeAll(async () => {
  places = await StrictPlaces.create('programs', callsShell);
});
afterAll(() => places.close());

it.each(CASES)(
  '$program.name runs a tool with a model at $at, set up by its recipe',
  async ({ program, names }) => {
    const since = new Date();
    places.checked.splice(0);
    const { root, world } = places;
    const recipe = adapted(recipeOf(program.name), names);
    const found = await run(program, {
      base: root,
      apiKey: world.apiKey.key,
      recipe: placed(recipe, root, (provider) => places.slugOf(provider)),
      awaited: LAST_WORDS,
      limitMs: LIMIT_MS,
    });

    const facts = [found.hasShown, found.exitCode, found.hasRunTool];
    expect(facts, found.output).toEqual([true, 0, true]);
    places.checkAccepted(2);
    const turn = [USAGE.input, USAGE.output, true];
    const turns = async () =>
      (await world.rows(since)).map(({ input_tokens: input, output_tokens: output, cost_nano_usd: cost }) => [
        input,
        output,
        cost !== null && cost > 0,
      ]);
    await expect.poll(turns).toEqual(expect.arrayContaining([turn, turn]));
    // Nothing of the session is without tokens or a price.
    expect((await turns()).filter((it) => it.join() !== turn.join())).toEqual([]);
  },
);
