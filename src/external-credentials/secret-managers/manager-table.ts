/** A field of the credential with which the gateway signs in to a secret manager. */
export interface AuthField {
  readonly name: string;
  readonly example: string;
  readonly pattern: RegExp;
  readonly isOptional?: true;
  /** Sealed when saved, and never shown again. */
  readonly isSecret?: true;
  /** The address of the manager. The egress rules decide whether it may be called. */
  readonly isAddress?: true;
  /** Addresses at which only the cloud itself answers: it may receive tokens of the machine there. */
  readonly ofCloud?: RegExp;
}

/** A way to sign in to a secret manager. */
export interface AuthMode {
  /** The field of `auth_config` that names the mode, and its value; null for a manager without modes. */
  readonly chosenBy: { readonly field: string; readonly value: string } | null;
  readonly fields: readonly AuthField[];
  /** Signs in with the identity of the machine, which an operator must allow. */
  readonly usesMachineIdentity?: true;
}

/** A secret manager: how its secrets are named, and how the gateway signs in. */
export interface ManagerRow {
  readonly name: string;
  readonly path: { readonly pattern: RegExp; readonly rule: string; readonly example: string };
  readonly modes: readonly AuthMode[];
}

export const MANAGER_TYPES = ['aws_sm', 'azure_kv', 'file', 'gcp_sm', 'hashicorp_vault'] as const;
export type ManagerType = (typeof MANAGER_TYPES)[number];

const URL_TEXT = /^https?:\/\/[!-~]{1,2000}$/;
const PRINTABLE = /^[!-~](?:[ -~]{0,8190}[!-~])?$/;

const vaultAddress: AuthField = {
  name: 'vault_addr',
  example: 'https://vault.example.com:8200',
  pattern: URL_TEXT,
  isAddress: true,
};
/** https://developer.hashicorp.com/vault/docs/enterprise/namespaces */
const vaultNamespace: AuthField = {
  name: 'vault_namespace',
  example: 'team-a',
  pattern: /^[\w./-]{1,255}$/,
  isOptional: true,
};
const awsRegion: AuthField = {
  name: 'aws_region',
  example: 'eu-central-1',
  pattern: /^[a-z]{2,3}(?:-[a-z]{2,12}){1,2}-\d{1,2}$/,
};
const azureVault: AuthField = {
  name: 'azure_vault_url',
  example: 'https://my-vault.vault.azure.net',
  pattern: URL_TEXT,
  isAddress: true,
  // https://learn.microsoft.com/en-us/azure/key-vault/general/about-keys-secrets-certificates#dns-suffixes-for-object-identifiers
  ofCloud: /^https:\/\/[0-9a-z-]{3,24}\.vault\.(?:azure\.net|azure\.cn|usgovcloudapi\.net)\/?$/i,
};
const secret = (name: string, example: string): AuthField => ({
  name,
  example,
  pattern: PRINTABLE,
  isSecret: true,
});
const text = (name: string, example: string, pattern: RegExp): AuthField => ({ name, example, pattern });

/** Every secret manager. `auth_config` of a secret reference has the fields of one mode. */
export const MANAGERS: Readonly<Record<ManagerType, ManagerRow>> = {
  hashicorp_vault: {
    name: 'HashiCorp Vault or OpenBao',
    path: {
      pattern: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.@+~-]+(?:\/[\w.@+~-]+)+$/,
      rule: 'it must be the mount and the path of a secret',
      example: 'secret/openai',
    },
    modes: [
      {
        chosenBy: { field: 'vault_auth_type', value: 'token' },
        fields: [vaultAddress, secret('vault_token', 'hvs.CAESIJ4711'), vaultNamespace],
      },
      {
        chosenBy: { field: 'vault_auth_type', value: 'approle' },
        fields: [
          vaultAddress,
          text('vault_role_id', '59d6d1ca-47bb-4e7e-a40b-8be3bc5a0ba8', /^[!-~]{1,255}$/),
          secret('vault_secret_id', '84896a0c-1347-aa90-a4f6-aca8b7558780'),
          vaultNamespace,
        ],
      },
      {
        chosenBy: { field: 'vault_auth_type', value: 'kubernetes' },
        fields: [vaultAddress, text('vault_role', 'gatehouse', /^[\w.-]{1,255}$/), vaultNamespace],
        usesMachineIdentity: true,
      },
    ],
  },
  aws_sm: {
    name: 'AWS Secrets Manager',
    path: {
      // https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html, or an ARN
      pattern: /^[\w/+=.@:-]{1,1024}$/,
      rule: 'it must be the name or the ARN of a secret',
      example: 'prod/openai',
    },
    modes: [
      {
        chosenBy: { field: 'aws_auth_type', value: 'accessKey' },
        fields: [
          text('aws_access_key_id', 'AKIAIOSFODNN7EXAMPLE', /^\w{1,128}$/),
          secret('aws_secret_access_key', 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY'),
          awsRegion,
        ],
      },
      {
        chosenBy: { field: 'aws_auth_type', value: 'assumedRole' },
        fields: [
          text(
            'aws_role_arn',
            'arn:aws:iam::123456789012:role/gateway',
            /^arn:aws[a-z-]{0,16}:iam::\d{12}:role\/[\w+=,.@/-]{1,512}$/,
          ),
          {
            name: 'aws_external_id',
            example: 'customer-4711',
            pattern: /^[\w+=,.@:/-]{2,1224}$/,
            isOptional: true,
          },
          awsRegion,
        ],
        usesMachineIdentity: true,
      },
      {
        chosenBy: { field: 'aws_auth_type', value: 'serviceRole' },
        fields: [awsRegion],
        usesMachineIdentity: true,
      },
    ],
  },
  gcp_sm: {
    name: 'Google Secret Manager',
    path: {
      pattern: /^projects\/[\w:.-]{1,100}\/secrets\/[\w-]{1,255}(?:\/versions\/(?:latest|\d{1,9}))?$/,
      rule: 'it must be the resource name of a secret',
      example: 'projects/my-project/secrets/openai',
    },
    modes: [
      {
        chosenBy: { field: 'gcp_auth_type', value: 'serviceAccount' },
        fields: [secret('gcp_service_account_json', '{"type":"service_account"}')],
      },
      {
        chosenBy: { field: 'gcp_auth_type', value: 'workloadIdentity' },
        fields: [],
        usesMachineIdentity: true,
      },
    ],
  },
  azure_kv: {
    name: 'Azure Key Vault',
    path: {
      // https://learn.microsoft.com/en-us/azure/key-vault/general/about-keys-secrets-certificates#objects-identifiers-and-versioning
      pattern: /^[0-9A-Za-z-]{1,127}(?:\/[0-9a-f]{32})?$/,
      rule: 'it must be the name of a secret, optionally with / and a version',
      example: 'openai-key',
    },
    modes: [
      {
        chosenBy: { field: 'azure_auth_mode', value: 'entra' },
        fields: [
          text(
            'azure_entra_tenant_id',
            '8d1f0a7e-1c2b-4d3e-9f4a-5b6c7d8e9f00',
            /^[A-Za-z0-9](?:[A-Za-z0-9-]|\.(?!\.)){0,253}$/,
          ),
          text('azure_entra_client_id', '0f9e8d7c-6b5a-4f3e-2d1c-0b9a8f7e6d5c', /^[A-Za-z0-9-]{1,64}$/),
          secret('azure_entra_client_secret', 'q4711~example'),
          azureVault,
        ],
      },
      {
        chosenBy: { field: 'azure_auth_mode', value: 'managed' },
        fields: [
          {
            name: 'azure_managed_client_id',
            example: '0f9e8d7c-6b5a-4f3e-2d1c-0b9a8f7e6d5c',
            pattern: /^[A-Za-z0-9-]{1,64}$/,
            isOptional: true,
          },
          azureVault,
        ],
        usesMachineIdentity: true,
      },
      {
        chosenBy: { field: 'azure_auth_mode', value: 'default' },
        fields: [azureVault],
        usesMachineIdentity: true,
      },
    ],
  },
  file: {
    name: 'Files',
    path: {
      pattern: /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[\w.@+~-]+(?:\/[\w.@+~-]+)*$/,
      rule: "it must be the path of a file in your organization's folder",
      example: 'openai-key',
    },
    modes: [{ chosenBy: null, fields: [] }],
  },
};

/** The mode that these fields choose, if there is one. */
export function modeOf(type: ManagerType, auth: Readonly<Record<string, unknown>>): AuthMode | undefined {
  return MANAGERS[type].modes.find(
    ({ chosenBy }) =>
      chosenBy === null || (Object.hasOwn(auth, chosenBy.field) && auth[chosenBy.field] === chosenBy.value),
  );
}
