/** Descriptions of the administration's operations beyond their summary: effects, conditions and the response. By `operationId`. */
export const ADMINISTRATION_OPERATIONS: Readonly<Record<string, string>> = {
  apiKeysList: 'Returns keys with masked secrets, newest first.',
  apiKeysGet: 'Returns the key with its limits and their use. The secret is masked.',
  apiKeysCreateAdminKey:
    'Creates a key for the administration of the whole organization. The response shows the secret once.',
  apiKeysCreateServiceKey:
    'Creates a key that belongs to a workspace and to no user, for applications. The response shows the secret once.',
  apiKeysCreateUserKey:
    'Creates a key that belongs to a user in a workspace and cannot do more than the user. The response shows the secret once.',
  apiKeysUpdate: 'Changes the fields that are sent. The secret does not change.',
  apiKeysRevoke: 'Requests with the key are refused from now on. This cannot be undone.',
  apiKeysRevokeMany:
    'Requests with the keys are refused from now on. If one of them cannot be revoked, none is.',
  rotateApiKeyRotate: 'Creates a new secret and shows it once. The old one works for a transition period.',
  rotateApiKeyRotateV2: 'The same as `POST /v1/api-keys/{id}/rotate`, under the path of the compatible API.',
  meGet: 'Returns the credential that was sent: its kind, owner, workspace and scopes.',

  virtualKeysList: 'Returns virtual keys without their credentials, newest first.',
  virtualKeysGet: 'Returns the virtual key with its limits and their use, without its credential.',
  virtualKeysCreate: 'Stores the credential encrypted. Requests can name the slug at once.',
  virtualKeysUpdate: 'Changes the fields that are sent. Running requests continue with the old credential.',
  virtualKeysRemove: 'Deletes the virtual key and its credential. Requests that name it are refused.',
  virtualKeysDuplicate: 'Creates a virtual key with the same credential and settings, under another slug.',
  virtualKeysCopy: 'Creates a virtual key with the same credential and settings in another workspace.',
  virtualKeyTestsTest:
    'Sends a request that costs nothing to the provider and reports whether it accepted the credential.',
  virtualKeyTestsTestUnsaved:
    'Sends a request that costs nothing to the provider and reports whether it accepted the credential. Nothing is stored.',

  integrationsList: 'Returns integrations without their credentials, newest first.',
  integrationsGet: 'Returns the integration with its access settings, without its credential.',
  integrationsCreate: 'Stores the credential encrypted. Workspaces with access use it through a provider.',
  integrationsUpdate: 'Changes the fields that are sent.',
  integrationsRemove:
    'Deletes the integration, its credential and its providers. Requests that name these are refused.',
  integrationPartsListModels: 'Returns the models with their prices and whether each may be used.',
  integrationPartsUpdateModels: 'Changes the models that are sent. Others keep their settings.',
  integrationPartsRemoveModels: 'Restores the defaults of the integration for these models.',
  integrationPartsListWorkspaces: 'Returns the workspaces and whether each may use the integration.',
  integrationPartsUpdateWorkspaces: 'Changes the access of the workspaces that are sent. Others keep theirs.',
  providersList: 'Returns the providers of the workspaces within reach, newest first.',
  providersGet: 'Returns the provider and its integration.',
  providersCreate: 'Makes an integration usable in a workspace. Requests can name the slug at once.',
  providersUpdate: 'Changes the fields that are sent.',
  providersRemove:
    'Deletes the provider. Its integration is kept. Requests that name the provider are refused.',
  providerCatalogList: 'Returns every provider in the catalogue, with the settings that an account needs.',

  modelConfigsList: 'Returns the agreed prices of the organization.',
  modelConfigsRead: 'Returns the list price of a model in US cents, without agreed prices.',
  modelConfigsSet: 'Requests that arrive from now on are charged by this price. Past costs do not change.',
  modelConfigsRemove:
    'Removes the agreed price. Requests that arrive from now on are charged by the list price.',

  configsList: 'Returns configs without their documents, newest first.',
  configsGet: 'Returns the config with the document in force.',
  configsCreate: 'Checks and saves a routing document as the first version of a config.',
  configsUpdate:
    'Changes the fields that are sent. Another document makes a new version, which is in force at once.',
  configsRemove: 'Deletes the config and all its versions. Requests that name it are refused.',
  configsUsedBy: 'Returns the API keys and workspaces that use the config by default.',
  configsSimulate:
    'Explains which targets a request would try, in which order and why. Nothing is sent to a provider.',
  configVersionsList: 'Returns the versions with their documents, newest first.',
  configVersionsGet: 'Returns one version with its document.',
  configVersionsDiff: 'Returns the differences of two documents as paths with old and new values.',
  configVersionsRollBack:
    'Saves the document of an earlier version as a new version, which is in force at once.',

  guardrailsList: 'Returns guardrails without their checks, newest first.',
  guardrailsGet: 'Returns the guardrail with its checks. Secrets in their parameters are masked.',
  guardrailsCreate: 'Configs and defaults can name the guardrail at once.',
  guardrailsUpdate: 'Changes the fields that are sent. Requests that arrive from now on are checked by it.',
  guardrailsRemove: 'Deletes the guardrail. A guardrail that is in use cannot be deleted.',

  limitStatusList: 'Returns limits with what is used and what remains, fullest first.',
  limitStatusRaise: 'Adds to a budget until its next reset. The budget itself does not change.',
  usagePoliciesList: 'Returns the budgets for groups of requests.',
  usagePoliciesGet: 'Returns one budget with its conditions.',
  usagePoliciesCreate:
    'Counts the requests that meet the conditions, by group, and refuses them at the end of the budget.',
  usagePoliciesUpdate: 'Changes the fields that are sent.',
  usagePoliciesArchive: 'The budget no longer counts or refuses requests.',
  usagePoliciesListEntities: 'Returns one counter for each combination of values that occurred.',
  usagePoliciesReset: 'Sets the use of one counter back to zero.',
  ratePoliciesList: 'Returns the rate limits for groups of requests.',
  ratePoliciesGet: 'Returns one rate limit with its conditions.',
  ratePoliciesCreate:
    'Counts the requests that meet the conditions, by group, and refuses those above the limit.',
  ratePoliciesUpdate: 'Changes the fields that are sent.',
  ratePoliciesArchive: 'The rate limit no longer counts or refuses requests.',

  logsList: 'Returns requests that match all filters, a page at a time. Bodies are in the single record.',
  logsGet:
    'Returns the record with its attempts, its routing decisions, and its bodies as far as they are kept.',
  logsTrace: 'Returns the requests of a trace as a tree, by their span ids.',
  liveLogsWatch:
    'Sends each new request that matches the filters as an event `log`. The event `dropped` counts those that were left out of a fast stream.',
  customLogsCreate: 'Adds calls that did not pass through the gateway. They appear in logs and analytics.',
  otlpTracesTraces:
    'Takes OpenTelemetry traces (OTLP over HTTP) as JSON or Protobuf. Spans with `gen_ai` attributes become records; others are rejected.',
  logViewsList: 'Returns saved filters, ranges and columns by name.',
  logViewsCreate: 'Saves a filter, a range and columns under a name.',
  logViewsUpdate:
    'Changes the fields that are sent. A shared view can also be changed with the scope `workspaces.update`.',
  logViewsRemove: 'Deletes the view. Only its owner can delete it.',
  logExportsList: 'Returns exports with their state, newest first.',
  logExportsGet: 'Returns the export with its state and how much was written.',
  logExportsCreate: 'Saves filters and fields as a draft. Start it to write the file.',
  logExportsUpdate: 'Changes the fields that are sent. Only a draft can be changed.',
  logExportsStart: 'Writes the file in the background. A failed or stopped export continues where it ended.',
  logExportsCancel: 'Stops writing. The rows written so far are kept.',
  logExportsDownload: 'Returns a link that works for 15 minutes without an API key.',
  logExportFilesFile: 'Returns the file in the format of the export.',
  logExportsFieldRestrictions: 'Returns the fields that the organization excludes from exports.',
  feedbackCreate: 'Stores ratings of traces. They appear in logs and analytics.',
  feedbackUpdate: 'Changes the fields that are sent.',

  analyticsCacheSummary:
    'Returns the hits of the response cache in the time range, and how much faster they are than other responses.',
  analyticsGroups:
    'Returns totals for each value of a property. An empty value stands for requests without one.',
  analyticsMetadataGroups:
    'Returns totals for each value of a metadata key. An empty value stands for requests without the key.',
  analyticsRequests: 'Returns the number of requests in each interval.',
  analyticsCost: 'Returns the total and mean cost in each interval.',
  analyticsLatency: 'Returns mean and percentiles in each interval. Percentiles are at most 0.8 % off.',
  analyticsTokens: 'Returns the input and output tokens in each interval.',
  analyticsUsers: 'Returns the number of different end users in each interval.',
  analyticsRequestsPerUser: 'Returns the mean in each interval. Requests without an end user do not count.',
  analyticsErrors: 'Returns the number of responses with a status of 400 or more in each interval.',
  analyticsErrorRate: 'Returns the share of responses with a status of 400 or more in each interval.',
  analyticsErrorStacks: 'Returns the number of errors by status in each interval.',
  analyticsErrorStatusCodes: 'Returns the number of errors by status in the whole time range.',
  analyticsRescuedRequests:
    'Returns the number of requests that succeeded by a retry or a fallback in each interval.',
  analyticsCacheHitRate:
    'Returns the share of responses from the cache and what they saved in each interval.',
  analyticsCacheLatency: 'Returns the latency of responses from the cache in each interval.',
  analyticsFeedbacks: 'Returns the number of ratings in each interval.',
  analyticsFeedbackScores: 'Returns the number of ratings by value in the whole time range.',
  analyticsWeightedFeedback: 'Returns the mean of value times weight in each interval.',
  analyticsFeedbackByModel:
    'Returns ratings by the model of the newest request of their trace. The model is empty if there is none.',

  organizationsGet: 'Returns the settings that hold for all workspaces.',
  organizationsUpdate: 'Changes the fields that are sent. Null restores a default.',
  workspacesList: 'Returns workspaces with their defaults, newest first.',
  workspacesGet: 'Returns the workspace with its defaults, its limits and its first members.',
  workspacesCreate: 'Creates a workspace. Its keys, configs and logs are apart from those of others.',
  workspacesUpdate: 'Changes the fields that are sent.',
  workspacesRemove:
    'Deletes an empty workspace and revokes its API keys. Delete its virtual keys, integrations, configs and guardrails first. The request log is kept as long as its retention says.',
  membersList: 'Returns the members with their roles.',
  membersGet: 'Returns one member with the role and what it allows.',
  membersAdd: 'Gives users of the organization a role in the workspace.',
  membersUpdate: 'Changes the role at once, also for API keys of the member.',
  membersRemove:
    'Removes the user from the workspace and revokes the API keys that belong to the user there.',

  usersList: 'Returns users with their roles and workspaces, newest first.',
  usersGet: 'Returns one user with the workspaces and roles.',
  usersUpdate: 'Changes the fields that are sent. A deactivated user can neither sign in nor use API keys.',
  usersRemove:
    'Removes the user, ends their sessions and revokes their own API keys. Service keys that they created pass to you. This cannot be undone.',
  usersTransferOwnership: 'Makes the user an owner of the organization.',
  userSignInMethods:
    'Returns whether the user has a password, an authenticator app, passkeys and recovery codes.',
  userSignInListSessions: 'Returns the sessions with device, address and last use.',
  userSignInEndSession: 'Ends the session at once.',
  userSignInEndAllSessions: 'Ends all sessions of the user at once.',
  userSignInRemoveSecondFactors: 'Helps a user who has lost their device. The sessions of the user end.',
  invitesList: 'Returns invites with their state, newest first.',
  invitesGet: 'Returns one invite with its workspaces and state.',
  invitesCreate: 'Creates a one-use link. The gateway sends it if a mail server is configured.',
  invitesResend: 'Creates a new link. The old one stops working.',
  invitesCancel: 'The link stops working.',
  acceptInviteAccept: 'Creates the user with the token of the link, and shows their API keys once.',

  signInWithPassword:
    'Opens a session and sets its cookie. Too many failed attempts are refused with 429 for a while.',
  setUpUse:
    'Sets name and password with a one-use link from the administrator or the command line, and opens a session.',
  sessionsGet: 'Returns the user, the organization, the workspaces and what the user may do.',
  sessionsList: 'Returns your sessions with device, address and last use.',
  sessionsEnd: 'Ends the session at once.',
  sessionsEndOthers: 'Ends all your sessions except the current one.',
  sessionsSignOut: 'Ends the current session and clears its cookie.',
  signOutSignOut:
    'Ends the current session, and returns the address for a sign-out at the identity provider.',
  passwordChange: 'Sets a new password. All your other sessions end.',
  passwordStepUp:
    'Confirms your identity for 10 minutes, for changes that need it. Takes the password and, if you have set up a second factor, its code.',
  passkeyStepUpStepUp: 'Confirms your identity for 10 minutes with a passkey, for changes that need it.',
  secondFactorsEnrol: 'Returns a secret for an authenticator app. It counts once a code confirms it.',
  secondFactorsConfirm: 'Confirms the secret with a code and returns recovery codes once.',
  secondFactorsRemove: 'Sign-in no longer requires a code.',
  secondFactorsRenew: 'Returns new recovery codes once. The old ones stop working.',
  passkeysList: 'Returns your passkeys with their last use.',
  passkeysCreationOptions: 'Returns the options for `navigator.credentials.create` in the browser.',
  passkeysAdd: 'Stores the public key of a new passkey.',
  passkeysRemove: 'The passkey can no longer sign in.',
  passkeyOptionsRequestOptions: 'Returns the options for `navigator.credentials.get` in the browser.',
  passkeySignInSignIn: 'Opens a session and sets its cookie.',
  findProvidersFind: 'Returns the identity providers of the domain of the address.',
  startSignOnStart: 'Redirects the browser to the identity provider.',
  signOnCallbackCallback:
    'Receives the browser back from the identity provider, opens a session and redirects to the dashboard. Its parameters are those of OpenID Connect.',
  backChannelLogoutLogOut:
    'Receives a logout token (OpenID Connect Back-Channel Logout 1.0) and ends the sessions that it names.',

  identityProvidersList: 'Returns identity providers without their secrets.',
  identityProvidersGet: 'Returns one identity provider without its secret.',
  identityProvidersCreate:
    'Stores the settings of an OpenID Connect provider. Only owners may. Users can sign in at once.',
  identityProvidersUpdate: 'Changes the fields that are sent. Only owners may.',
  identityProvidersRemove: 'Deletes the identity provider and ends the sessions from it. Only owners may.',
  identityProvidersUnlink: 'The user can no longer sign in with this account. Only owners may.',
  signInSettingsGet: 'Returns whether single sign-on is required, and the users who are exempt.',
  signInSettingsSet: 'Requires single sign-on, or allows the other ways again. Only owners may.',
  signInTrialsStart: 'Returns an address for a sign-in that only shows what would happen. Only owners may.',
  signInTrialsGet: 'Returns the claims of the user, and the roles or the error that would follow.',
  organizationJwtGet: 'Returns the accepted issuers and their keys.',
  organizationJwtSet: 'Requests can use tokens of these issuers in place of API keys.',
  organizationJwtRemove: 'Requests with signed tokens are refused from now on.',

  refusedCredentialsList:
    'Returns requests without a valid credential, added up by address, end of the credential and reason, latest first. They appear within about five seconds, and at most 2,000 rows are kept.',
  auditLogsList: 'Returns changes with the values before and after them. Secrets are masked.',
  auditLogsExport: 'Returns the records as JSON Lines, oldest first.',
  auditLogsVerify:
    'Recomputes the hashes of a part of the chain. Continue with `next_after` until it is null.',
  auditDestinationsList: 'Returns the destinations with the state of their deliveries.',
  auditDestinationsGet: 'Returns one destination with the state of its deliveries.',
  auditDestinationsCreate: 'Sends every new record to the destination, in order and at least once.',
  auditDestinationsUpdate: 'Changes the fields that are sent. Delivery is retried at once.',
  auditDestinationsRemove: 'Records are no longer sent there.',
  legalHoldsList: 'Returns legal holds, released ones included.',
  legalHoldsGet: 'Returns one legal hold.',
  legalHoldsCreate:
    'Keeps the request log of a workspace, or of the whole organization, from being deleted by retention.',
  legalHoldsRelease: 'Retention applies to the logs again, unless another hold covers them.',
};
