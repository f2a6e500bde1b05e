import { resolve } from 'node:path';
import { z } from 'zod';
import { listIn } from '../text/list-in.js';
import { isUuid } from '../ids/uuid-v7.js';
import { Secret } from './secret.js';

const MINUTE = 60_000;
const EVERY_ORGANIZATION = '*';

/** An address without a path, credentials, query or fragment. */
function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, origin, href } = new URL(text);
  return /^https?:$/.test(protocol) && href === `${origin}/`;
}

const idsIn = (text: string): string[] => listIn(text.toLowerCase());

/** Set by Azure's services for the workloads that run there. */
const AZURE_SETTINGS = {
  AZURE_CLIENT_ID: z
    .string()
    .optional()
    .describe("Application of the machine's identity at Azure. Workload identity of Kubernetes sets it."),
  AZURE_TENANT_ID: z.string().optional().describe('Entra tenant of that application.'),
  AZURE_FEDERATED_TOKEN_FILE: z
    .string()
    .optional()
    .describe('File with the federated token of that application.'),
  AZURE_AUTHORITY_HOST: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Address of Entra ID. Default: that of the public cloud.'),
  IDENTITY_ENDPOINT: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe("Address of the machine's identity at Azure. App Service and Container Apps set it."),
  IDENTITY_HEADER: z.string().optional().describe('Password of IDENTITY_ENDPOINT, set beside it.'),
};

/** Settings of credentials from secret managers and from the machine. `duration` is that of the other settings. */
export const externalCredentialSettings = (
  duration: (fallback: number, minimum: number, description: string) => z.ZodType<number>,
) => ({
  GATEHOUSE_SECRET_TTL_MS: duration(
    5 * MINUTE,
    1_000,
    'How long the value of a secret reference is used before it is read from its secret manager again.',
  ),
  GATEHOUSE_SECRETS_DIR: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder of secret files, with a folder per organization, named by its id. Default: secret references cannot name files.',
    ),
  GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS: z
    .string()
    .default('')
    .refine(
      (text) => idsIn(text).every((id) => id === EVERY_ORGANIZATION || isUuid(id)),
      'it must be ids of organizations, comma-separated, or * for all',
    )
    .describe(
      'Organizations that may use the identity of the machine at AWS, Azure, Google Cloud and Kubernetes: ids, comma-separated, or * for all. Default: none.',
    ),
  GATEHOUSE_WORKLOAD_IDENTITY_ADDRESSES: z
    .string()
    .default('')
    .refine(
      (text) => listIn(text).every(isOrigin),
      'it must be addresses such as https://vault.example.com:8200, comma-separated',
    )
    .describe(
      'Secret managers that may receive tokens of the machine, besides Azure Key Vault: addresses, comma-separated. Vault needs it for the service account of Kubernetes. Default: none.',
    ),
  ...AZURE_SETTINGS,
});

/** The identity of the machine at Azure, as its services set it. */
export interface AzureIdentitySettings {
  readonly clientId?: string | undefined;
  readonly tenantId?: string | undefined;
  readonly federatedTokenFile?: string | undefined;
  readonly authorityHost?: string | undefined;
  readonly endpoint?: string | undefined;
  readonly header?: Secret | undefined;
  /** Instead of the metadata service: for tests. */
  readonly metadataUrl?: string | undefined;
}

/** Credentials that do not come from the database. */
export interface ExternalCredentialSettings {
  readonly ttlMs: number;
  /** Null if secret files are not allowed. */
  readonly folder: string | null;
  /** Organizations that may use the identity of the machine. */
  readonly identityFor: 'all' | ReadonlySet<string>;
  /** Origins of secret managers that may receive its tokens, besides services of the clouds. */
  readonly identityAddresses: ReadonlySet<string>;
  readonly azure: AzureIdentitySettings;
}

type RawExternalCredentialSettings = z.infer<z.ZodObject<ReturnType<typeof externalCredentialSettings>>>;

export function externalCredentialsOf(raw: RawExternalCredentialSettings): ExternalCredentialSettings {
  const folder = raw.GATEHOUSE_SECRETS_DIR;
  const ids = idsIn(raw.GATEHOUSE_WORKLOAD_IDENTITY_ORGANIZATIONS);
  return {
    ttlMs: raw.GATEHOUSE_SECRET_TTL_MS,
    folder: folder === undefined ? null : resolve(folder),
    identityFor: ids.includes(EVERY_ORGANIZATION) ? 'all' : new Set(ids),
    identityAddresses: new Set(
      listIn(raw.GATEHOUSE_WORKLOAD_IDENTITY_ADDRESSES).map((text) => new URL(text).origin),
    ),
    azure: {
      clientId: raw.AZURE_CLIENT_ID,
      tenantId: raw.AZURE_TENANT_ID,
      federatedTokenFile: raw.AZURE_FEDERATED_TOKEN_FILE,
      authorityHost: raw.AZURE_AUTHORITY_HOST,
      endpoint: raw.IDENTITY_ENDPOINT,
      header: raw.IDENTITY_HEADER === undefined ? undefined : new Secret(raw.IDENTITY_HEADER),
    },
  };
}
