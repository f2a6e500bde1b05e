import { describe, expect, it } from 'vitest';
import { mistakesOf, readText } from './mistakes';
import { ordered } from './ordered';
import { routeOfConfig } from './route-of-config';

const CONFIG = {
  strategy: {
    mode: 'conditional',
    conditions: [{ query: { 'metadata.plan': { $eq: 'pro' } }, then: 'premium' }],
    default: 'standard',
  },
  targets: [
    {
      name: 'premium',
      strategy: { mode: 'fallback', on_status_codes: [429] },
      targets: [{ virtual_key: 'anthropic', retry: { attempts: 2 } }, { virtual_key: 'bedrock' }],
    },
    {
      name: 'standard',
      strategy: { mode: 'loadbalance' },
      targets: [{ provider: 'a', weight: 3 }, { provider: 'b' }],
    },
  ],
};

describe('the route of a config', () => {
  it('says what leads to each target', () => {
    const [root] = routeOfConfig(CONFIG, []).children ?? [];
    expect([root?.name, root?.note]).toEqual(['conditional', '1 condition']);
    const [premium, standard] = root?.children ?? [];
    expect([premium?.edge, standard?.edge]).toEqual(['plan = pro', 'default']);
    expect(premium?.children?.map(({ name, note, edge }) => [name, note, edge])).toEqual([
      ['anthropic', '2 retries', undefined],
      ['bedrock', '', 'if 429'],
    ]);
    expect(standard?.children?.map(({ edge }) => edge)).toEqual(['75 %', '25 %']);
  });

  it('lights the way to what a simulated request takes, and no other', () => {
    const [root] = routeOfConfig(CONFIG, ['config.targets[0].targets[0]']).children ?? [];
    const [premium, standard] = root?.children ?? [];
    expect([root, premium, standard].map((node) => node?.isTaken)).toEqual([true, true, undefined]);
    expect(premium?.children?.map(({ isTaken }) => isTaken)).toEqual([true, undefined]);
  });

  it.each([{}, { targets: 'x' }, { targets: [1, null] }, { strategy: [], targets: [{}] }])(
    'of what is half written, %j, is drawn all the same',
    (document) => {
      expect(routeOfConfig(document, []).children).toHaveLength(1);
    },
  );
});

describe('mistakes', () => {
  const text = JSON.stringify({ retry: { attempts: 2 }, weigth: 1 }, null, 2);

  it('of the server appear on their lines', () => {
    const message =
      'The config is invalid: config.weigth is unknown; did you mean "weight"; config.retry.attempts is too large.';
    expect(mistakesOf({ code: 'config_invalid', message }, text)).toEqual([
      { line: 3, text: 'config.retry.attempts is too large' },
      { line: 5, text: 'config.weigth is unknown; did you mean "weight"' },
    ]);
  });

  it('of another kind appear on the first line in the wording of the server', () => {
    expect(mistakesOf({ code: 'forbidden', message: 'No.' }, text)).toEqual([{ line: 1, text: 'No.' }]);
  });

  it('of a text that is no JSON object are found without the server', () => {
    expect(readText('{\n  x')).toMatchObject({ mistake: { line: 2 } });
    expect(readText('[]')).toMatchObject({ mistake: { line: 1 } });
    expect(readText(text)).toHaveProperty('document');
  });
});

it('a document that the database gave back has the text of the one that was typed', () => {
  const typed = {
    targets: [{ retry: { attempts: 1 }, provider: 'a' }],
    strategy: { on_status_codes: [429], mode: 'fallback' },
  };
  const stored = {
    strategy: { mode: 'fallback', on_status_codes: [429] },
    targets: [{ provider: 'a', retry: { attempts: 1 } }],
  };
  expect(JSON.stringify(ordered(typed))).toBe(JSON.stringify(ordered(stored)));
  expect(Object.keys(ordered(typed) as object)).toEqual(['strategy', 'targets']);
});
