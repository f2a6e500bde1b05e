import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAMS } from './programs/catalog.js';
import { documentedPrograms, documentedReaction, type Reaction } from './programs/documented-reactions.js';
import { type Program, type ProgramRun, run } from './programs/program.js';
import { placed, recipeOf } from './programs/recipes.js';
import { type Refusal, REFUSALS, RefusingPlaces } from './programs/refusals.js';
import { Tap } from './programs/tap.js';

/** What the coding agents do with errors of the gateway: the table of docs/clients.md, measured. */
const WAIT_SECONDS = 60;
/** From a program's last request to the sentence on its screen. */
const AT_ONCE_SECONDS = 10;
/** More of them are a retry with a growing wait. Codex sends three, and OpenCode one for the title of the session. */
const FEW_REQUESTS = 3;
/** Starting takes a program up to a minute on a busy machine. */
const LIMIT_MS = 180_000;

const versions = (
  JSON.parse(readFileSync(new URL('programs/package.json', import.meta.url), 'utf8')) as {
    dependencies: Readonly<Record<string, string>>;
  }
).dependencies;
const titleOf = ({ name, package: installed }: Program): string => `${name} ${versions[installed] ?? ''}`;

let places: RefusingPlaces;
beforeAll(async () => {
  places = await RefusingPlaces.create();
});
afterAll(() => places.world.close());

/** Runs a program until it ends or has repeated its request for long enough. */
async function reactionTo(program: Program, refusal: Refusal): Promise<{ is: Reaction; found: ProgramRun }> {
  const apiKey = await places.keyFor(refusal, program.provider);
  const probe = await places.ask(refusal, program.provider, apiKey);
  expect([probe.status, probe.text]).toEqual([refusal.status, expect.stringContaining(refusal.says)]);
  const tap = await Tap.start(places.world.service.baseUrl);
  let shown: Reaction['shown'] | null = null;
  try {
    const found = await run(program, {
      base: tap.url,
      apiKey,
      recipe: placed(recipeOf(program.name), tap.url, (provider) => places.slugOf(refusal, provider)),
      awaited: refusal.says,
      limitMs: LIMIT_MS,
      isOver: () => tap.secondsSinceFirst > WAIT_SECONDS,
      onShown: () =>
        (shown =
          tap.requests <= FEW_REQUESTS && tap.secondsSinceLast < AT_ONCE_SECONDS
            ? 'at once'
            : 'after retries'),
    });
    const isRepeating = found.exitCode === null && tap.requests > 1 && tap.secondsSinceFirst > WAIT_SECONDS;
    const requests = isRepeating ? null : tap.requests;
    return { is: { shown: shown ?? (isRepeating ? '> 60 s' : 'own text'), requests }, found };
  } finally {
    await tap.stop();
  }
}

describe.each(PROGRAMS)('$name', (program) => {
  it.concurrent.each(REFUSALS)(
    'shows the sentence of $name when docs/clients.md says',
    async (refusal) => {
      const { is, found } = await reactionTo(program, refusal);

      expect(is, found.output).toEqual(documentedReaction(titleOf(program), refusal.name));
    },
    LIMIT_MS + 30_000,
  );
});

it('docs/clients.md names the versions that are tested', () => {
  expect(documentedPrograms()).toEqual(PROGRAMS.map(titleOf));
});
