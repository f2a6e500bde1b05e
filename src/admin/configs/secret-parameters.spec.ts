import { expect, it } from 'vitest';
import { secretParameters } from './secret-parameters.js';

it.each(['api_key', 'apiKey', 'X-Api-Key', 'client_secret', 'password', 'Authorization', 'access_token'])(
  'a config may not store the parameter %s, wherever it is',
  (name) => {
    const config = {
      default_params: { [name]: 'sk-1' },
      targets: [{ provider: 'openai' }, { targets: [{ override_params: { [name]: 'sk-2' } }] }],
    };

    expect(secretParameters(config).map(({ path }) => path)).toEqual([
      `config.default_params.${name}`,
      `config.targets[1].targets[0].override_params.${name}`,
    ]);
  },
);

it.each(['max_tokens', 'prompt_cache_key', 'safety_identifier', 'secretary', 'stop'])(
  'the parameter %s is no secret',
  (name) => {
    expect(secretParameters({ override_params: { [name]: 'x' } })).toEqual([]);
  },
);
