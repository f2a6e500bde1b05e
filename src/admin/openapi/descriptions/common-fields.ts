import { ERROR_CODES } from '../../../common/errors/catalog.js';

/**
 * Descriptions of fields shared by many resources. A key is a field's name, or `Owner.name` for the field of one schema (without "Dto",
 * "Create" and "Update") or of one enclosing object. A DTO's own description takes precedence.
 */
export const COMMON_FIELDS: Readonly<Record<string, string>> = {
  id: 'Id, assigned when the resource was created. It never changes.',
  slug: 'Short name for use in paths, headers and configs. It never changes.',
  name: 'Display name. It need not be unique.',
  object: 'Type of this object.',
  success: 'Always true. A failure has an error status and an `error` object instead.',
  data: 'The items of this page, or the resource itself.',
  total: 'Number of matching items on all pages.',
  status: 'Current state of the resource.',
  type: 'Kind of the resource.',
  organisation_id: "Id of the organization. In a request it is optional and must be the caller's own.",
  workspace_id: 'Id of the workspace. Null if the resource belongs to the whole organization.',
  created_at: 'Time of creation, ISO 8601 in UTC.',
  last_updated_at: 'Time of the last change, ISO 8601 in UTC.',
  updated_by: 'Id of the user or API key that made the last change. Null if it was never changed.',
  owner_id: 'Id of the user or API key that created the resource. Null if it is unknown.',
  created_by: 'Id of the user or API key that created the resource.',
  expires_at: 'Time at which the resource stops working, ISO 8601 in UTC. Null if it does not expire.',
  description: 'Free text: what the resource is for. Null if there is none.',
  note: 'Free text. Null removes it. Default: none.',
  version_id: 'Id of this version.',
  dry_run: 'True if the request was only checked and nothing was saved.',
  changes: 'Differences from the version in force, as paths with their old and new values.',
  enabled: 'Whether it is in use. Default: true.',
  email: 'E-mail address. Upper and lower case are equal.',
  first_name: 'Given name. Null if it is unknown.',
  last_name: 'Family name. Null if it is unknown.',
  scopes: 'Permissions, such as `logs.list`. Every operation names the scope that it requires.',
  metadata:
    'Key-value pairs that are stored with each request, for filters and reports: at most 64 keys, values of at most 128 characters.',
  user_id: 'Id of the user. Null if there is none.',
  api_key_id: 'Id of the API key. Null if none was used.',
  api_key_name:
    'Name of the API key, also of a revoked one. Null if none was used, or if it does not exist. Absent in traces and live updates.',
  request_id: 'Id of the request. Support and the request log find it by this id.',
  provider: 'Id of the provider in the provider catalogue, such as `openai`.',
  model: "Id of the model, as its provider's documentation writes it.",
  virtual_key: 'Slug of the virtual key. Null if none was used.',
  virtual_key_id: 'Id of the virtual key. Null if none was used.',
  config_id: 'Id of the saved routing config. Null if none applied.',
  rate_limits:
    'Rate limits: one object, a list of at most 10, or null for none. All of them apply. Default: none.',
  usage_limits:
    'Budgets: one object, a list of at most 10, or null for none. All of them apply. Default: none.',
  reset_usage:
    'True sets the use of all budgets and rate limits back to zero. Running requests still count for concurrency. Default: false.',
  log_retention_days:
    'Days for which request logs are kept, 1 to 3650. Null: the value of the level above applies (organization, then installation).',
  body_retention_days:
    'Days for which request and response bodies are kept, 1 to 3650; never longer than their logs. Null: the value of the level above applies.',
  log_redaction:
    'What the request log replaces before it stores a request, beside the rules of the level above. Null: no further rules.',
  'log_redaction.headers': 'Names of headers whose values are replaced.',
  'log_redaction.json_paths': 'JSONPath expressions of places in JSON bodies whose values are replaced.',
  'log_redaction.patterns': 'Regular expressions (RE2 syntax). Matching text in bodies is replaced.',
  input_guardrails:
    'Ids or slugs of guardrails that check every request, before those of a config. Null: none. At most 50.',
  output_guardrails:
    'Ids or slugs of guardrails that check every response, before those of a config. Null: none. At most 50.',
  unsupported_parameters:
    'What happens to a parameter that the provider does not have: `refuse` returns 400, `drop` sends the request without it. A header or a config takes precedence.',
  on_client_disconnect:
    'What happens when the client disconnects before the end of the response: `cancel` ends the request and charges what arrived, as an estimate; `finish` reads the response to its end and charges what the provider reports. Null: the default of the workspace applies, else `cancel`.',
  is_default: '1 if this is the default, else 0.',
  role_mappings: 'Roles that the groups of a user give. Default: none.',
  'RefusalDetail.message': 'What was wrong, where, and what to do next. For display; the wording may change.',
  'RefusalDetail.type': 'Class of the error. Use `code` to tell errors apart.',
  'RefusalDetail.code': `Stable code of the error: ${ERROR_CODES.map((code) => `\`${code}\``).join(', ')}. More may follow.`,
  'RefusalDetail.param':
    'Name of the field or parameter that was wrong. Null if the error concerns no single one.',
  'Refusal.error': 'What was wrong.',
};
