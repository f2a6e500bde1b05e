import { z } from 'zod';
import { normalizeEmail } from '../../common/http/normal-email.js';
import {
  CLIENT_DISCONNECT_RULES,
  UNSUPPORTED_PARAMETER_RULES,
} from '../../common/contracts/upstream-rules.js';

/**
 * The desired state of an organization, as a file. Resources that the file does not name, and omitted fields, stay unchanged. Names are
 * those of the administration's bodies.
 */

const name = z.string().min(1).max(120);
const slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, 'it must be lowercase letters, digits and hyphens');
/** Distinguishes resources that share their name. */
const id = z.guid('it must be an id').optional();
const note = z.string().max(2000).nullable();
/** Id, slug or name of a workspace. */
const workspace = z.string().min(1).max(120);

/** Where to find a secret when the file is applied; the file never contains it. */
const secret = z.union(
  [z.strictObject({ from_env: z.string().min(1) }), z.strictObject({ from_file: z.string().min(1) })],
  'it must be {from_env: NAME} or {from_file: path}: the file must not contain the secret itself',
);

const rateLimits = z
  .array(
    z.strictObject({
      type: z.string(),
      unit: z.string().nullable().optional(),
      value: z.number(),
      on_store_failure: z.string().optional(),
    }),
  )
  .nullable()
  .optional();
const usageLimits = z
  .array(
    z.strictObject({
      credit_limit: z.number(),
      type: z.string().optional(),
      alert_threshold: z.number().nullable().optional(),
      periodic_reset: z.string().nullable().optional(),
      periodic_reset_days: z.number().int().nullable().optional(),
    }),
  )
  .nullable()
  .optional();
/** All limits of a resource, by kind. An empty list or null removes them; an omitted kind stays unchanged. */
const limits = { rate_limits: rateLimits, usage_limits: usageLimits } as const;

const days = z.number().int().min(1).max(3_650).nullable().optional();

const texts = z.array(z.string()).optional();
const redaction = z
  .strictObject({ headers: texts, json_paths: texts, patterns: texts })
  .nullable()
  .optional();

const organization = z.strictObject({
  name: name.optional(),
  security_settings: z.record(z.string(), z.boolean()).nullable().optional(),
  allowed_providers: z.array(z.string()).min(1).nullable().optional(),
  allowed_models: z.array(z.string()).min(1).nullable().optional(),
  log_bodies: z.boolean().optional(),
  strict_logging: z.boolean().optional(),
  log_retention_days: days,
  body_retention_days: days,
  log_redaction: redaction,
  export_settings: z
    .strictObject({ deniedFields: z.array(z.string()) })
    .nullable()
    .optional(),
  input_guardrails: z.array(z.string()).nullable().optional(),
  output_guardrails: z.array(z.string()).nullable().optional(),
  alert_webhook_url: z.string().nullable().optional(),
});

const declaredWorkspace = z.strictObject({
  name,
  id,
  description: note.optional(),
  log_retention_days: days,
  body_retention_days: days,
  log_redaction: redaction,
  ...limits,
});

/** Matched by address. A user who does not exist is invited; memberships in other workspaces stay unchanged. */
const user = z.strictObject({
  email: z
    .string()
    .refine((text) => normalizeEmail(text) === text, 'it must be an e-mail address in lower case'),
  role: z.enum(['admin', 'member']),
  workspaces: z.array(z.strictObject({ workspace, role: z.enum(['admin', 'manager', 'member']) })).optional(),
});

const virtualKey = z.strictObject({
  slug,
  workspace,
  name: name.optional(),
  note: note.optional(),
  provider: z.string().min(1),
  custom_host: z.string().nullable().optional(),
  fields: z.record(z.string(), z.string()).optional(),
  model_pricing: z.record(z.string(), z.unknown()).nullable().optional(),
  on_client_disconnect: z.enum(CLIENT_DISCONNECT_RULES).nullable().optional(),
  unsupported_parameters: z.enum(UNSUPPORTED_PARAMETER_RULES).nullable().optional(),
  expires_at: z.string().nullable().optional(),
  ...limits,
  /** Required for a new key, and to change the destination of an existing one. */
  key: secret.optional(),
});

const config = z.strictObject({
  slug,
  workspace,
  name: name.optional(),
  config: z.record(z.string(), z.unknown()),
  is_default: z.boolean().optional(),
  status: z.enum(['active', 'archived']).optional(),
});

/** By reference: a new key's secret is shown once to its creator, so a file can only set the permissions of an existing key. */
const apiKey = z.strictObject({
  name,
  id,
  type: z.enum(['organisation-service', 'workspace-service', 'workspace-user']),
  workspace: workspace.optional(),
  description: note.optional(),
  scopes: z.array(z.string()).min(1),
  ...limits,
});

const json = z.record(z.string(), z.unknown());
const list = z.array(z.unknown());

const guardrail = z.strictObject({
  slug,
  /** Omitted: in every workspace. */
  workspace: workspace.optional(),
  name,
  checks: list.min(1),
  actions: json.optional(),
});

const integration = z.strictObject({
  slug,
  workspace: workspace.optional(),
  name,
  provider: z.string().min(1),
  description: note.optional(),
  configurations: json.optional(),
  key: secret.optional(),
});

const provider = z.strictObject({
  slug,
  workspace,
  /** Slug of the integration whose credentials it uses. */
  integration: z.string().min(1),
  name,
  note: note.optional(),
  expires_at: z.string().nullable().optional(),
});

const modelPrice = z.strictObject({
  provider: z.string().min(1),
  model: z.string().min(1),
  pay_as_you_go: json,
});

const policy = { name, workspace, conditions: list, group_by: list } as const;

const usagePolicy = z.strictObject({
  ...policy,
  type: z.string().optional(),
  credit_limit: z.number(),
  alert_threshold: z.number().nullable().optional(),
  periodic_reset: z.string().nullable().optional(),
  periodic_reset_days: z.number().int().nullable().optional(),
});

const ratePolicy = z.strictObject({
  ...policy,
  type: z.string(),
  unit: z.string().nullable().optional(),
  value: z.number(),
  on_store_failure: z.string().optional(),
});

const auditDestination = z.strictObject({
  name,
  url: z.string().min(1),
  enabled: z.boolean().optional(),
  ca_certificate: z.string().nullable().optional(),
  secret: secret.optional(),
});

/** The complete setup: omitted fields get their defaults. */
const signedTokens = z.strictObject({
  issuers: z.array(z.string()).min(1),
  audiences: z.array(z.string()).min(1),
  jwks_uri: z.string(),
  algorithms: z.array(z.string()).optional(),
  token_types: z.array(z.string()).optional(),
  max_lifetime_seconds: z.number().int().optional(),
  claims: json.optional(),
  unknown_people: z.string().optional(),
  role_mappings: list.optional(),
  highest_organisation_role: z.string().optional(),
  highest_workspace_role: z.string().optional(),
  max_people: z.number().int().nullable().optional(),
});

/** The lists in a file, and the schema of their entries. */
export const SECTIONS = {
  workspaces: declaredWorkspace,
  users: user,
  guardrails: guardrail,
  integrations: integration,
  providers: provider,
  model_prices: modelPrice,
  usage_policies: usagePolicy,
  rate_policies: ratePolicy,
  audit_destinations: auditDestination,
  virtual_keys: virtualKey,
  configs: config,
  api_keys: apiKey,
} as const;

export const organizationSchema = organization;
export const signedTokensSchema = signedTokens;

export const documentSchema = z.strictObject({
  organization: organization.optional(),
  signed_tokens: signedTokens.optional(),
  workspaces: z.array(declaredWorkspace).optional(),
  users: z.array(user).optional(),
  guardrails: z.array(guardrail).optional(),
  integrations: z.array(integration).optional(),
  providers: z.array(provider).optional(),
  model_prices: z.array(modelPrice).optional(),
  usage_policies: z.array(usagePolicy).optional(),
  rate_policies: z.array(ratePolicy).optional(),
  audit_destinations: z.array(auditDestination).optional(),
  virtual_keys: z.array(virtualKey).optional(),
  configs: z.array(config).optional(),
  api_keys: z.array(apiKey).optional(),
});

export type SectionName = keyof typeof SECTIONS;
export type DeclaredOrganization = z.infer<typeof organization>;
export type DeclaredSignedTokens = z.infer<typeof signedTokens>;
export type DeclaredWorkspace = z.infer<typeof declaredWorkspace>;
export type DeclaredUser = z.infer<typeof user>;
export type DeclaredVirtualKey = z.infer<typeof virtualKey>;
export type DeclaredConfig = z.infer<typeof config>;
export type DeclaredApiKey = z.infer<typeof apiKey>;
export type SecretSource = z.infer<typeof secret>;
