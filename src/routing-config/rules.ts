import { AppError } from '../common/errors/app-error.js';
import { HOOK_LIST_NAMES, holdsSecrets } from './guardrails/read-hooks.js';
import { parseDestination } from '../common/net/destination.js';
import { ACCOUNT_FIELDS, ACCOUNT_SECRETS } from './account-fields.js';
import { readCondition } from './conditions.js';
import type { RoutingConfig, Strategy } from './document.js';
import type { DocumentPath } from './document-path.js';

/** Maximum number of targets of one strategy. */
const ROOT_TARGETS_MAX = 100;
const CONDITIONAL_TARGETS_MAX = 1_000;
const NESTED_TARGETS_MAX = 50;

/** The origin of a config: saved ones are stored in clear text, so they must not contain secrets. */
export type ConfigOrigin = 'saved' | 'sent';

/** Fields that select a destination, and so belong to a target without targets of its own. */
const OF_A_TARGET = [
  'provider',
  'api_key',
  'virtual_key',
  ...ACCOUNT_FIELDS,
  ...ACCOUNT_SECRETS,
] as const satisfies readonly (keyof RoutingConfig)[];

const SECRETS = ['api_key', ...ACCOUNT_SECRETS] as const satisfies readonly (keyof RoutingConfig)[];

/** Fields that are only valid in strategies of certain modes. */
const OF_A_MODE = {
  conditions: 'conditional',
  default: 'conditional',
  hold_stream_ms: 'fallback',
  hedge: 'fallback',
  sticky: 'loadbalance',
  balance_by: 'loadbalance',
} as const satisfies Partial<Record<keyof Strategy, Strategy['mode']>>;

/** Headers that are never forwarded from a client's request to a provider, whatever a config names. */
const NEVER_FORWARDED: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'metadata',
  'metadata-flavor',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'x-aws-ec2-metadata-token',
  'x-aws-ec2-metadata-token-ttl-seconds',
  'x-metadata-token',
]);
const NEVER_FORWARDED_PREFIX = /^x-(gateway|portkey)-/;

/** Reports inconsistencies in a document whose fields were read, as far as possible. */
export function checkRules(config: RoutingConfig, at: DocumentPath, origin: ConfigOrigin): void {
  if (Object.keys(config).every((name) => name === 'name' || name === 'weight'))
    at.refuse('is empty: name a virtual key, a provider, targets or an option');
  checkNode(config, at, { origin, isRoot: true });
}

interface ConfigPosition {
  readonly origin: ConfigOrigin;
  readonly isRoot: boolean;
}

function checkNode(config: RoutingConfig | undefined, at: DocumentPath, where: ConfigPosition): void {
  if (!config) return;
  const { strategy, targets } = config;
  if (targets && !strategy) at.at('strategy').refuse('is missing: it says how to choose among the targets');
  if (strategy) checkStrategy(strategy, targets ?? null, at, where);
  if (targets) checkBranch(config, at);
  else checkTarget(config, at);
  checkForwarding(config, at);
  if (where.origin === 'saved') {
    checkSecrets(config, at);
    checkHooks(config, at);
  }
  targets?.forEach((target, index) =>
    checkNode(target, at.at('targets').at(index), { ...where, isRoot: false }),
  );
}

function checkBranch(config: RoutingConfig, at: DocumentPath): void {
  for (const name of OF_A_TARGET)
    if (config[name] !== undefined) at.at(name).refuse('belongs in the targets: write it there');
}

function checkTarget(config: RoutingConfig, at: DocumentPath): void {
  const { api_key, virtual_key, provider, custom_host } = config;
  if (api_key !== undefined && virtual_key !== undefined)
    at.at('api_key').refuse('cannot be combined with "virtual_key", which has its own key');
  else if (api_key !== undefined && provider === undefined)
    at.at('provider').refuse('is missing: it names the provider of "api_key"');
  if (custom_host !== undefined) checkHost(custom_host, at.at('custom_host'));
}

function checkHost(host: string, at: DocumentPath): void {
  try {
    parseDestination(host);
  } catch (error) {
    at.refuse(error instanceof AppError ? String(error.details.detail) : 'is not a valid base URL');
  }
}

function checkForwarding({ forward_headers }: RoutingConfig, at: DocumentPath): void {
  forward_headers?.forEach((header, index) => {
    const name = header?.toLowerCase();
    if (name && (NEVER_FORWARDED.has(name) || NEVER_FORWARDED_PREFIX.test(name)))
      at.at('forward_headers').at(index).refuse('is a header that is never forwarded to a provider');
  });
}

function checkSecrets(config: RoutingConfig, at: DocumentPath): void {
  for (const name of SECRETS)
    if (config[name] !== undefined)
      at.at(name).refuse(
        'is a secret, which a saved config may not hold: create a virtual key and name it here',
      );
}

/** A saved config would expose what stored guardrails seal. */
function checkHooks(config: RoutingConfig, at: DocumentPath): void {
  for (const name of HOOK_LIST_NAMES)
    config[name]?.forEach((item, index) => {
      if (item !== undefined && holdsSecrets(item))
        at.at(name)
          .at(index)
          .refuse(
            'has headers or a secret of a webhook, which a saved config may not hold: store the guardrail and name its id here',
          );
    });
}

type Targets = readonly (RoutingConfig | undefined)[];

function checkStrategy(
  strategy: Strategy,
  targets: Targets | null,
  at: DocumentPath,
  { isRoot }: ConfigPosition,
): void {
  const place = at.at('strategy');
  checkFit(strategy, targets ?? [], place);
  if (targets) checkCount(strategy, targets, at, isRoot);
  else if (strategy.mode !== 'single') at.at('targets').refuse('is missing: the strategy chooses among them');
  if (strategy.mode === 'conditional') checkConditions(strategy, targets ?? [], place);
  if (strategy.mode === 'loadbalance' && targets?.every((target) => target?.weight === 0))
    at.at('targets').refuse('has no target with a weight above 0');
}

function checkFit(strategy: Strategy, targets: Targets, at: DocumentPath): void {
  for (const [field, mode] of Object.entries(OF_A_MODE))
    if (strategy.mode && strategy.mode !== mode && strategy[field as keyof Strategy] !== undefined)
      at.at(field).refuse(`has no effect in the mode "${strategy.mode}"`);
  if (strategy.sticky?.enabled && !strategy.sticky.hash_fields)
    at.at('sticky').at('hash_fields').refuse('is missing: it says which requests belong together');
  if (strategy.hedge && targets.some((target) => target?.strategy))
    at.at('hedge').refuse('cannot be used where a target has a strategy of its own');
}

function checkCount({ mode }: Strategy, { length }: Targets, at: DocumentPath, isRoot: boolean): void {
  const most = isRoot ? ROOT_TARGETS_MAX : NESTED_TARGETS_MAX;
  const max = isRoot && mode === 'conditional' ? CONDITIONAL_TARGETS_MAX : most;
  if (length > max) at.at('targets').refuse(`must have at most ${max} items here, and has ${length}`);
}

function checkConditions(strategy: Strategy, targets: Targets, at: DocumentPath): void {
  const names = targets.flatMap((target) => (target?.name === undefined ? [] : [target.name]));
  const known = new Set(names);
  if (known.size < names.length) at.refuse('names a target, and two targets have the same name');
  if (!strategy.conditions) at.at('conditions').refuse('is missing');
  if (strategy.default !== undefined && !known.has(strategy.default))
    at.at('default').refuse(notATarget(strategy.default, names));
  strategy.conditions?.forEach((condition, index) => {
    const place = at.at('conditions').at(index);
    if (condition?.query) readCondition(condition.query, place.at('query'));
    if (condition?.then !== undefined && !known.has(condition.then))
      place.at('then').refuse(notATarget(condition.then, names));
  });
}

const NAMES_SHOWN = 10;
const LONGEST_SHOWN = 64;

function notATarget(name: string, names: readonly string[]): string {
  if (names.length === 0) return 'names a target, and no target has a name';
  const shown = names.slice(0, NAMES_SHOWN).map((each) => `"${each.slice(0, LONGEST_SHOWN)}"`);
  const rest = names.length - shown.length;
  const all = rest > 0 ? `${shown.join(', ')} and ${rest} more` : shown.join(', ');
  return `names the target "${name.slice(0, LONGEST_SHOWN)}", which does not exist. The targets are ${all}`;
}
