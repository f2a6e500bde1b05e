import type { Mistake, RoutingConfig } from '../../routing-config/routing-config.js';

const SECRET_NAME = /^(?:.*[_-])?(?:api[_-]?key|secret|password|authorization|access[_-]?token)$/i;

/**
 * Parameters of a config that are secrets by their names: configs are stored and shown in clear text. Configs that were stored before the
 * check still run.
 */
export function secretParameters(config: RoutingConfig, path = 'config'): Mistake[] {
  const own = (['override_params', 'default_params'] as const).flatMap((list) =>
    Object.keys(config[list] ?? {})
      .filter((name) => SECRET_NAME.test(name))
      .map((name) => ({
        path: `${path}.${list}.${name}`,
        message: 'is a secret, which a saved config may not hold: create a virtual key and name it here',
      })),
  );
  const { targets = [] } = config;
  return [
    ...own,
    ...targets.flatMap((target, index) => secretParameters(target, `${path}.targets[${index}]`)),
  ];
}
