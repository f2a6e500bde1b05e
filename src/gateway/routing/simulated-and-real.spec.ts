import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readRoutingConfig } from '../../routing-config/routing-config.js';
import type { RoutedRequest } from '../../routing-config/conditions.js';
import { explainRouting } from '../../routing-config/explain.js';
import { planFromConfig } from '../planning/plan-from-config.js';
import { answered, walk } from '../../../test/support/routing.js';

const REQUEST: RoutedRequest = { metadata: { plan: 'paid' }, params: {}, pathname: '/', headers: {} };

interface SimulatedConfig {
  readonly name?: string;
  readonly virtual_key?: string;
  readonly strategy?: object;
  readonly targets?: readonly SimulatedConfig[];
}

/** Configs whose conditions match a branch, their default, or nothing. */
const { config } = fc.letrec<{
  config: SimulatedConfig;
  target: SimulatedConfig;
  branching: SimulatedConfig;
}>((tie) => ({
  target: fc.constant({ virtual_key: 'v' }),
  config: fc.oneof({ maxDepth: 3, withCrossShrink: true }, tie('target'), tie('branching')),
  branching: fc
    .tuple(
      fc.constantFrom('single', 'fallback', 'conditional'),
      fc.array(tie('config'), { minLength: 1, maxLength: 3 }),
      fc.constantFrom('paid', 'free'),
      fc.boolean(),
    )
    .map(([mode, targets, plan, hasDefault]) => ({
      strategy:
        mode === 'conditional'
          ? {
              mode,
              conditions: [{ query: { 'metadata.plan': plan }, then: 'n0' }],
              ...(hasDefault && { default: `n${targets.length - 1}` }),
            }
          : { mode },
      targets: targets.map((target, index) => ({ ...target, name: `n${index}` })),
    })),
}));

/** The targets that a request tries while all of them are down, and the error that ends it. */
async function tried(document: SimulatedConfig): Promise<readonly [string[], string]> {
  const read = readRoutingConfig(document, 'sent');
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  const paths: string[] = [];
  const { result } = await walk(
    planFromConfig(read.config, null).plan,
    ({ path }) => {
      paths.push(path);
      return answered(503);
    },
    { request: REQUEST },
  );
  return [paths, String(result)];
}

function simulated(document: SimulatedConfig): string[] {
  const read = readRoutingConfig(document, 'sent');
  if (read.mistakes) throw new Error(JSON.stringify(read.mistakes));
  return explainRouting(read.config, REQUEST).targets.map(({ path }) => path);
}

describe('the simulation of a config', () => {
  it('stops where a nested conditional refuses the request, as the gateway does', async () => {
    const unmet: SimulatedConfig = {
      strategy: { mode: 'conditional', conditions: [{ query: { 'metadata.plan': 'free' }, then: 'n' }] },
      targets: [{ name: 'n', virtual_key: 'v' }],
    };
    const document = { strategy: { mode: 'fallback' }, targets: [unmet, { virtual_key: 'w' }] };

    expect(await tried(document)).toEqual([[], 'no_target']);
    expect(simulated(document)).toEqual([]);
  });

  it('names the targets that a request tries when all of them are down, in their order, for any nesting', async () => {
    await fc.assert(
      fc.asyncProperty(config, async (document) => {
        const [paths] = await tried(document);
        expect(simulated(document)).toEqual(paths);
      }),
      { numRuns: 500 },
    );
  });
});
