import { z } from 'zod';
import { CLIENT_DISCONNECT_RULES } from '../../common/contracts/client-disconnect.js';

/**
 * What an organization should be, as a file says it. What the file does not name is left alone; a field that is left out
 * stays as it is. Names are those of the administration's own bodies.
 */

const name = z.string().min(1).max(120);
const slug = z
  .string()
  .regex(/^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/, 'it must be small letters, digits and hyphens');
/** Of a thing that shares its name with others, so that it can be told from them. */
const id = z.guid('it must be an id').optional();
const note = z.string().max(2000).nullable();
/** Id, slug or name of a workspace. */
const workspace = z.string().min(1).max(120);

/** Where a secret is when the file is applied; it never stands in the file. */
const secret = z.union(
  [z.strictObject({ from_env: z.string().min(1) }), z.strictObject({ from_file: z.string().min(1) })],
  'it must be {from_env: NAME} or {from_file: path}: a secret does not stand in the file',
);

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
  expires_at: z.string().nullable().optional(),
  /** Needed for a new key, and for one that is to lead elsewhere. */
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

/** By reference: a key is made by whom it is shown to, once, so a file can only say what an existing one may do. */
const apiKey = z.strictObject({
  name,
  id,
  type: z.enum(['organisation-service', 'workspace-service', 'workspace-user']),
  workspace: workspace.optional(),
  description: note.optional(),
  scopes: z.array(z.string()).min(1),
});

/** The parts of a file that are lists, and what each entry of them must be. */
export const SECTIONS = {
  workspaces: declaredWorkspace,
  virtual_keys: virtualKey,
  configs: config,
  api_keys: apiKey,
} as const;

export const organizationSchema = organization;

export const documentSchema = z.strictObject({
  organization: organization.optional(),
  workspaces: z.array(declaredWorkspace).optional(),
  virtual_keys: z.array(virtualKey).optional(),
  configs: z.array(config).optional(),
  api_keys: z.array(apiKey).optional(),
});

export type SectionName = keyof typeof SECTIONS;
export type DeclaredOrganization = z.infer<typeof organization>;
export type DeclaredWorkspace = z.infer<typeof declaredWorkspace>;
export type DeclaredVirtualKey = z.infer<typeof virtualKey>;
export type DeclaredConfig = z.infer<typeof config>;
export type DeclaredApiKey = z.infer<typeof apiKey>;
export type SecretSource = z.infer<typeof secret>;
