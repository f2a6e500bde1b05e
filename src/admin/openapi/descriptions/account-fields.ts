/** Fields of organizations, workspaces, users, API keys and sign-in. Keys as in `COMMON_FIELDS`. */
export const ACCOUNT_FIELDS: Readonly<Record<string, string>> = {
  'Organization.name': 'Name of the organization.',
  security_settings:
    'Policy flags that extend or restrict the rights of roles. Flags that are left out keep their value; null restores the defaults.',
  allowed_providers: 'Ids of the only providers that requests may use. Null: all providers.',
  allowed_models: 'Ids of the only models that requests may use. Null: all models.',
  log_bodies: 'Whether the request log keeps the bodies of requests and responses. Default: true.',
  strict_logging:
    'True refuses requests that cannot be recorded, for example when the disk is full. False serves them without a record. Default: false.',
  export_settings: 'Fields that no export of the request log may contain. Null: no such rule.',
  'export_settings.deniedFields': 'Names of the fields that exports may not contain.',
  alert_webhook_url:
    'URL that receives a POST when a budget reaches its threshold or its limit. Null: no webhook. Default: null.',
  alert_webhook_secret:
    'Secret that signs the calls to `alert_webhook_url`. It is stored encrypted and never shown. Null removes it.',
  has_alert_webhook_secret: 'Whether the calls to `alert_webhook_url` are signed.',

  'Workspace.name': 'Name of the workspace.',
  'RemoveWorkspace.name': 'Name of the workspace, repeated as a confirmation.',
  defaults:
    'Settings for all requests of the workspace. Fields that are left out keep their value; null clears all.',
  'WorkspaceDefaults.cache': 'Response cache for requests whose config does not set one. Null: no default.',
  'WorkspaceDefaults.metadata':
    'Key-value pairs added to every request of the workspace. They override those of API keys and requests. Null: none.',
  'WorkspaceDefaults.user_api_key_config':
    'Id or slug of the config for user API keys that have no config of their own. Null: none.',
  'CreateWorkspace.users':
    'Ids of users of the organization who become members with the role `member`. Default: only the creator.',
  'WorkspaceWithUsers.users': 'The first members of the workspace, with their roles.',
  'WorkspaceWithUsers.is_default': '1 for the workspace that was created with the organization, else 0.',
  'Workspace.is_default': '1 for the workspace that was created with the organization, else 0.',
  total_users: 'Total number of members; the list of members contains all of them.',
  'RemoveWorkspace.workspace_id': 'Id of the workspace, as in the path. Optional.',
  'AddMembers.users': 'The new members with their roles, at most 100.',
  'NewMember.id': 'Id of the user.',
  'Member.id': 'Id of the user.',
  'Member.scopes': 'What the user may do in this workspace. Their API keys cannot do more.',
  'Member.org_role': 'Role of the user in the organization.',
  'Member.settings': 'Always null.',
  role: 'Role: in a workspace `admin`, `manager` or `member`; in the organization `owner`, `admin` or `member`.',

  'User.status': '`deactivated` users keep their API keys, roles and memberships, but cannot use them.',
  workspace_ids:
    'Ids of the workspaces in which the user is a member. Owners and admins reach every workspace.',
  'User.workspaces': 'Workspaces in which the user is a member, with the role in each.',
  'RemoveUser.email': 'E-mail address of the user, repeated as a confirmation.',
  'RemoveUser.user_id': 'Id of the user, as in the path. Optional.',
  step_down:
    'True makes the current owner, on whose authority this happens, an admin. False adds an owner. Default: true.',

  'Invite.status': 'State of the invite. Only a `pending` one can be accepted.',
  'Invite.workspaces': 'Workspaces that the user joins at acceptance, with the role in each.',
  'CreateInvite.workspaces': 'Workspaces that the new user joins, at most 100; an empty list for none.',
  'InvitedTo.id': 'Id or slug of the workspace.',
  workspace_api_key_details:
    'Creates an API key for the user in each of these workspaces. The response to the acceptance shows them once. Default: no keys.',
  accepted_at: 'Time of acceptance. Null until then.',
  invited_by: 'Id of the user or API key that created the invite.',
  invite_link: 'One-use link to send to the user. Null if the gateway sends it by e-mail.',
  inviteLink: 'One-use link to send to the user. Null if the gateway sends it by e-mail.',
  'AcceptInvite.token': 'Token from the invite link: the part after `#`.',
  'AcceptInvite.email': 'E-mail address to check against the invited one. Optional.',
  'AcceptInvite.password':
    'Password for the dashboard, 12 to 200 characters; common ones are refused. Leave it out for single sign-on.',
  'AcceptedInvite.api_keys': 'API keys created for the user, shown only in this response.',
  invite_id: 'Id of the invite, as in the path. Optional.',
  'FirstKey.key': 'The secret API key. It is shown only in this response.',

  'ApiKey.type':
    'Kind of the key: for the administration, for a service of a workspace, or for a user of a workspace.',
  'CreateApiKey.type': 'Kind of the key, as in the path. Optional.',
  'CreateApiKey.sub_type': 'Second part of the kind, as in the path. Optional.',
  'CreateWorkspaceServiceKey.type': 'Kind of the key, as in the path. Optional.',
  'CreateWorkspaceUserKey.type': 'Kind of the key, as in the path. Optional.',
  'CreateWorkspaceUserKey.user_id':
    'Id of the user to whom the key belongs. Default: the user who creates it, or on whose authority the creating key acts.',
  'CreatedApiKey.key': 'The secret API key. It is shown only in this response.',
  'RotatedApiKey.key': 'The new secret API key. It is shown only in this response.',
  'ApiKeyList.total': 'Number of matching keys on all pages, at most 100,000.',
  'ApiKey.key': 'The key with all but its prefix and its last four characters masked.',
  'ApiKey.status':
    '`exhausted` keys have no budget left; `expired` keys are past `expires_at`. Both are refused.',
  'ApiKey.creation_mode': 'How the key was created: in the dashboard, by the API, or by the gateway itself.',
  'ApiKeyDefaults.config_id':
    'Id or slug of the config for requests that name none. Null: the default of the workspace applies.',
  'ApiKeyDefaults.metadata':
    'Key-value pairs added to every request with this key. They override those of the request; those of the workspace override them.',
  'ApiKey.defaults': 'Settings for requests with this key.',
  'CreateWorkspaceServiceKey.defaults': 'Settings for requests with this key. Default: none.',
  'CreateWorkspaceUserKey.defaults': 'Settings for requests with this key. Default: none.',
  allow_config_override: 'Whether requests may name another config or send one. Default: true.',
  alert_emails:
    'Addresses that receive alerts about the budgets of this key, beside owners, admins and the owner of the key. Default: none.',
  key_transition_period_ms:
    'Milliseconds for which the old secret still works: 0 to 604,800,000 (7 days). 0 ends every old secret at once. Default: 1,800,000 (30 minutes).',
  key_transition_expires_at: 'Time at which the previous secret stops working. Null if none does.',
  last_used_at: 'Time of the last request or sign-in with it. Null if there was none within 30 days.',
  'Passkey.last_used_at': 'Time of the last sign-in with this passkey. Null if there was none.',
  'RevokeApiKeys.ids': 'Ids of the keys to revoke, at most 1000. If one cannot be revoked, none is.',
  'RevokedApiKeys.revoked': 'Ids of the revoked keys.',
  'UpdateApiKey.id': 'Id of the key, as in the path. Optional.',

  'Me.kind': 'Kind of the credential that was sent.',
  'Me.name': 'Name of the key or of the user.',
  'Me.workspace_id':
    'Id of the workspace of the credential. Null if it reaches every workspace of the organization.',
  'Me.scopes': 'What the credential may do now. A key cannot do more than the user to whom it belongs.',

  'SignIn.password': 'Password of the user.',
  'StepUp.password': 'Password of the user. Needed if the user has one.',
  current_password: 'The current password.',
  new_password: 'The new password, 12 to 200 characters. Common passwords are refused.',
  'SetUp.token': 'Token from the set-up link: the part after `#`.',
  'SetUp.name': 'Full name of the user.',
  'SetUp.password': 'The new password, 12 to 200 characters. Common passwords are refused.',
  code: 'Six-digit code of the authenticator app, or a recovery code. Needed if the user has set one up.',
  'ConfirmTotp.code': 'The current six-digit code of the authenticator app.',
  'TrialError.code': 'Stable code of the error.',
  'TrialError.message': 'What would prevent the sign-in, and what to do about it.',
  'SignIn.organisation_id':
    'Id of the organization, for a user of several. Default: the oldest organization in which the password is right.',
  'EnrolledTotp.secret': 'Secret for the authenticator app, in Base32. It is shown only in this response.',
  'EnrolledTotp.uri': 'The same secret as an `otpauth://` URI, for a QR code.',
  'RecoveryCodes.codes':
    'One-use codes that replace the authenticator app. They are shown only in this response.',
  options: 'Options for `navigator.credentials` in the browser (WebAuthn, JSON form).',
  credential: 'Result of `navigator.credentials` in the browser (WebAuthn, JSON form).',
  is_backed_up: 'Whether the passkey is synchronized between devices.',
  'Session.method': 'How the user signed in.',
  'Session.ip': 'IP address from which the user signed in.',
  'Session.user_agent': 'Browser from which the user signed in. Null if it sent no name.',
  is_current: 'Whether this is the session of this request.',
  last_seen_at: 'Time of the last request, to the minute.',
  'Session.expires_at': 'Latest time at which the session ends.',
  idle_expires_at: 'Time at which the session ends unless it is used before.',
  'SignedIn.session': 'The current session.',
  'SignedIn.user': 'The signed-in user.',
  'SignedIn.organisation': 'The organization of the session.',
  'SignedIn.workspaces':
    'Workspaces of the user by name, at most 1,000; for owners and admins those of the whole organization.',
  'SignedIn.scopes':
    'What the user may do in the workspace of the header `x-gateway-workspace`, or in the whole organization.',
  workspace_total: 'Number of all workspaces of the user.',
  scopes_by_role: 'What each role may do in a workspace.',
  'ScopesByRole.admin': 'Scopes of workspace admins.',
  'ScopesByRole.manager': 'Scopes of workspace managers.',
  'ScopesByRole.member': 'Scopes of workspace members.',
  authenticated_at:
    'Time at which the user last proved their identity. Some changes need a proof within the last 10 minutes.',
  csrf_header: 'Name of the header that every change must carry, with the value 1.',
  identity_provider: 'Identity provider of the session. Null if the user did not sign in by single sign-on.',
  'identity_provider.id': 'Id of the identity provider.',
  'identity_provider.name': 'Name of the identity provider.',
  sign_in_methods: 'Ways in which the user can sign in.',
  'SignInMethods.password': 'Whether the user has a password.',
  totp: 'Whether the user has an authenticator app.',
  passkeys: 'Number of passkeys of the user.',
  recovery_codes_left: 'Number of unused recovery codes.',

  'RefusedCredential.reason': 'Why the requests were refused.',
  'RefusedCredential.address':
    'IP address of the client. Null: all addresses and credentials that have no row of their own.',
  'RefusedCredential.last_four':
    'Last four characters of the presented credential. Null without one, or for one of less than 16 characters.',
  'RefusedCredential.api_key_id':
    'Id of the API key that was presented, if it has expired, was revoked or was replaced. Null for every other credential.',
  'RefusedCredential.path':
    'Path of one of the requests, without its query. Segments of more than 24 characters are masked.',
  'RefusedCredential.requests': 'Number of these requests.',
  'RefusedCredential.first_at': 'Time of the first of these requests.',
  'RefusedCredential.last_at': 'Time of the last of these requests.',
  'RefusedCredentialList.requests': 'Number of refused requests in all rows that match, on all pages.',
};
