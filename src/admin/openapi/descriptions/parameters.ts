import { FILTER_DESCRIPTIONS } from '../../../request-log/reading/filter-descriptions.js';

/**
 * What the parameters of paths and queries mean, by name. `operationId.name` goes before the name alone.
 */
export const PARAMETER_DESCRIPTIONS: Readonly<Partial<Record<string, string>>> = {
  ...FILTER_DESCRIPTIONS,

  current_page: 'Number of the page, counted from 0. Default: 0.',
  page_size: 'Number of items on a page, 1 to 100. Default: 50.',
  workspace_id:
    'Id or slug of a workspace. Default: every workspace within reach; for a workspace key its own.',
  workspace_slug:
    'Id or slug of a workspace. Default: every workspace within reach; for a workspace key its own.',
  organisation_id: "Id of the organization. Optional, and must be the caller's own.",
  dry_run: 'True only checks the request and returns what would be saved. Default: false.',

  slug: 'Slug or id of the resource.',
  id: 'Id of the resource.',
  userId: 'Id of the user.',
  workspaceId: 'Id or slug of the workspace.',
  inviteId: 'Id of the invite.',
  sessionId: 'Id of the session.',
  version_id: 'Id of the version.',
  guardrail: 'Id or slug of the guardrail.',
  entity: 'Id of the counter, from the list of counters.',
  traceId: 'Id of the trace.',
  metadataKey: 'Key of the metadata.',
  groupBy: 'Property by which to group requests.',
  model: 'Id of the model, percent-encoded.',
  provider: 'Id of the provider, such as `openai`.',
  file_id: 'Id of the file.',
  batch_id: 'Id of the batch.',
  'startSignOnStart.provider': 'Id of the identity provider.',

  status: 'Includes only resources in this state. Default: all.',
  role: 'Includes only users with this role. Default: all.',
  email: 'Includes only the user with this e-mail address.',
  type: 'Includes only resources of this kind. Default: all.',
  unit: 'Includes only limits with this window. Default: all.',
  'workspacesList.name': 'Includes only workspaces whose name contains this text.',
  exact_name: 'Includes only workspaces with exactly this name.',
  search: 'Includes only resources whose name contains this text, in any case.',
  'apiKeysList.user_id': 'Includes only keys of this user.',
  include_last_used_at: 'True adds `last_used_at` to each key. Default: false.',
  'usersRemove.confirm': 'E-mail address of the user, as a confirmation. It can be in the body instead.',
  'workspacesRemove.name': 'Name of the workspace, as a confirmation. It can be in the body instead.',

  start_time: 'Earliest time of the change: a date, or a date and time with its zone.',
  end_time: 'Latest time of the change: a date, or a date and time with its zone.',
  method: 'Includes only changes by requests with this HTTP method.',
  uri: 'Includes only changes by requests to this path.',
  request_id: 'Includes only the changes of the request with this id.',
  'auditLogsList.user_id': 'Includes only changes by the user or API key with this id.',
  'auditLogsExport.user_id': 'Includes only changes by the user or API key with this id.',
  user_type: 'Includes only changes by users, or only those by API keys.',
  'auditLogsList.workspace_id': 'Includes only changes in the workspace with this id.',
  'auditLogsExport.workspace_id': 'Includes only changes in the workspace with this id.',
  response_status_code: 'Includes only changes whose response had this HTTP status.',
  resource_type: 'Includes only changes of this kind of resource, such as `virtual_keys`.',
  action: 'Includes only changes of this kind, such as `create`.',
  client_ip: 'Includes only changes from this IP address.',
  country: 'Includes only changes from this country.',
  outcome: 'Includes only changes with this outcome.',
  after: 'Number of the record before the part to check: `next_after` of the previous part. Default: 0.',

  'configVersionsDiff.from': 'Id of the older version. Default: the version before `to`.',
  'configVersionsDiff.to': 'Id of the newer version. Default: the version in force.',
  slugs: 'Ids of the models whose settings to remove. Commas separate them.',

  cursor: 'Cursor from `next_cursor` of the previous page. Default: the first page.',
  include_total: 'True counts the matching requests, up to 10,001. Default: false.',
  'logsList.search':
    'Text to find in the bodies of requests and responses, in any case: 3 to 256 characters. It needs the scope `logs.view`, the setting `GATEHOUSE_BODY_SEARCH`, and a time range of at most 31 days.',
  'analyticsFacet.field': 'Field of the request log whose values to list.',
  interval: 'Length of a data point. Default: chosen by the length of the time range.',
  time_zone: 'IANA time zone in which days, weeks and months begin, such as Europe/Berlin. Default: UTC.',
  columns: 'Columns of the response. Commas separate them. Default: all.',
  order_by: 'Column by which to sort. Default: `requests`.',
  order_by_type: 'Direction of the sort. Default: `desc`.',

  signature: 'Signature of a signed link.',
  by: 'Creator of a signed link: `key.` or `user.` and an id.',
  expires: 'Time at which a signed link ends, in seconds since 1970.',
  return_to: 'Page of the dashboard to open after the sign-in. Default: `/ui/`.',
  reauthenticate: '`true` makes the user authenticate again, for a step-up.',
};
