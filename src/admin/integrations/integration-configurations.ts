import { invalidField } from '../../common/errors/field-errors.js';
import type { Provider } from '../../providers/provider.js';
import { WORKLOAD_IDENTITY } from '../../providers/auth-scheme.js';
import { findProvider } from '../../providers/catalog/registry.js';
import type { RequestedDestination } from '../credentials/credentials.service.js';

/** A destination, and the secret among the configurations. */
export interface ReadConfigurations extends RequestedDestination {
  readonly key: string | undefined;
}

/** Configurations that set the base URL. */
const HOSTS: ReadonlySet<string> = new Set(['custom_host', 'huggingface_base_url', 'azure_foundry_url']);

/** Configurations that hold the provider's key. */
const SECRETS: ReadonlySet<string> = new Set([
  'aws_secret_access_key',
  'azure_entra_client_secret',
  'vertex_service_account_json',
]);

/** How an account authenticates. Here each mode is another catalogue row, or follows from the given fields. Rows by provider and mode. */
const MODES: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  azure_auth_mode: {
    'azure-openai': {
      default: 'azure-openai',
      entra: 'azure-openai-entra',
      managed: 'azure-openai-entra',
    },
    'azure-openai-entra': { entra: 'azure-openai-entra', managed: 'azure-openai-entra' },
    'azure-ai': { default: 'azure-ai' },
  },
  aws_auth_type: {
    bedrock: { accessKey: 'bedrock', assumedRole: 'bedrock', serviceRole: 'bedrock' },
    sagemaker: { accessKey: 'sagemaker', assumedRole: 'sagemaker', serviceRole: 'sagemaker' },
  },
  vertex_auth_type: {
    'vertex-ai': { serviceAccount: 'vertex-ai', workloadIdentity: 'vertex-ai' },
    'vertex-ai-global': { serviceAccount: 'vertex-ai-global', workloadIdentity: 'vertex-ai-global' },
  },
};

/** Modes in which the identity of the machine replaces the key. */
const MACHINE_MODES: ReadonlySet<unknown> = new Set(['managed', 'serviceRole', 'workloadIdentity']);

/** The single deployment of an Azure account: https://learn.microsoft.com/en-us/azure/foundry/openai/api-version-lifecycle */
const DEPLOYMENTS = 'azure_deployment_config';
const DEPLOYMENT_FIELDS: Readonly<Record<string, string>> = {
  azure_api_version: 'azure-api-version',
  azure_deployment_name: 'azure-deployment-id',
};
/** Every model goes to the integration's deployment, so these have no effect. */
const DEPLOYMENT_NOTES: ReadonlySet<string> = new Set(['azure_model_slug', 'alias', 'is_default']);

/**
 * Reads the configurations of the compatible API: the base URL, the secret, the mode, and otherwise fields of the provider's row, with
 * underscores for dashes (`aws_region`). Refuses with `invalid_request`, naming the configuration.
 */
export function readConfigurations(
  providerId: string,
  configurations: Readonly<Record<string, unknown>>,
): ReadConfigurations {
  const read = {
    provider: findProvider(providerId).id,
    customHost: null as string | null,
    key: undefined as string | undefined,
  };
  const fields: Record<string, unknown> = {};
  const sent = new Map(Object.keys(configurations).map((name) => [name.replaceAll('_', '-'), name]));
  const sentAs = (field: string): string => `configurations.${sent.get(field) ?? field.replaceAll('-', '_')}`;
  for (const [name, value] of Object.entries(configurations)) {
    if (HOSTS.has(name)) read.customHost = textAt(name, value);
    else if (SECRETS.has(name)) read.key = textAt(name, value);
    else if (Object.hasOwn(MODES, name)) {
      read.provider = providerFor(read.provider, name, value);
      if (MACHINE_MODES.has(value)) fields[WORKLOAD_IDENTITY] = 'enabled';
    } else if (name === DEPLOYMENTS) Object.assign(fields, deploymentOf(value));
    else fields[fieldNamed(name)] = value;
  }
  return { ...read, fields, sentAs };
}

/** Fields and host as configurations that can be sent back. */
export function configurationsOf(
  customHost: string | null,
  fields: Readonly<Record<string, string>>,
): Record<string, string> {
  const named = Object.entries(fields).map(([name, value]) => [name.replaceAll('-', '_'), value]);
  return {
    ...Object.fromEntries(named),
    ...(customHost === null ? {} : { custom_host: customHost }),
  } as Record<string, string>;
}

function fieldNamed(name: string): string {
  if (name === 'custom_headers')
    refuse(
      name,
      'custom headers are not stored; send them with each request, and list them in "forward_headers" of a config',
    );
  return name.replaceAll('_', '-');
}

function providerFor(provider: Provider['id'], name: string, mode: unknown): string {
  const rows = MODES[name]?.[provider] ?? {};
  const row = typeof mode === 'string' && Object.hasOwn(rows, mode) ? rows[mode] : undefined;
  if (row !== undefined) return row;
  const known = Object.keys(rows);
  return refuse(
    name,
    known.length > 0 ? `it must be ${known.join(' or ')}` : `the provider "${provider}" has no such choice`,
  );
}

function deploymentOf(value: unknown): Record<string, unknown> {
  if (!Array.isArray(value) || value.length !== 1)
    refuse(DEPLOYMENTS, 'it must be a list of one deployment; create an integration for each');
  const [deployment] = value as unknown[];
  if (typeof deployment !== 'object' || deployment === null)
    refuse(DEPLOYMENTS, 'a deployment must be an object');
  return Object.fromEntries(
    Object.entries(deployment).flatMap(([name, inner]: [string, unknown]) => {
      if (DEPLOYMENT_NOTES.has(name)) return [];
      const field = Object.hasOwn(DEPLOYMENT_FIELDS, name) ? DEPLOYMENT_FIELDS[name] : undefined;
      return [[field ?? refuse(`${DEPLOYMENTS}[0].${name}`, 'a deployment has no such field'), inner]];
    }),
  );
}

function textAt(name: string, value: unknown): string {
  return typeof value === 'string' && value !== '' ? value : refuse(name, 'it must be a string');
}

function refuse(name: string, rule: string): never {
  throw invalidField(`configurations.${name.slice(0, 64)}`, rule);
}
