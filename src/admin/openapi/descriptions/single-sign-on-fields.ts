/** Fields of identity providers and of signed tokens. Keys as in `COMMON_FIELDS`. */
export const SINGLE_SIGN_ON_FIELDS: Readonly<Record<string, string>> = {
  'FoundProvider.organisation_name': 'Name of the organization to which the identity provider belongs.',
  'IdentityProvider.name': 'Name on the sign-in page.',
  'FoundProvider.name': 'Name on the sign-in page.',
  issuer:
    'Issuer of the identity provider (OpenID Connect), exactly as its `/.well-known/openid-configuration` writes it.',
  client_id: 'Client id under which the gateway is registered at the identity provider.',
  client_secret:
    'Client secret of that registration. It is stored encrypted; responses show `***`. Leave it out of a change to keep it.',
  'IdentityProvider.scopes':
    'OpenID Connect scopes to request, at most 20. Default: `openid`, `email` and `profile`.',
  'StartTrial.scopes': 'OpenID Connect scopes to request, at most 20. Default: those of the saved provider.',
  domains:
    'E-mail domains of this identity provider. Users of these domains find it on the sign-in page, and it signs in no others. Default: none; then it signs in every address, by its link only.',
  groups_claim: 'Name of the claim that holds the groups of a user, as a list or a text. Default: `groups`.',
  create_users: 'Whether a first sign-in creates a user. Default: false.',
  roles_follow_directory:
    'Whether every sign-in sets the roles from `role_mappings`, and not only the first. Owners stay owners. Default: false.',
  redirect_uri:
    'Redirect URI to register at the identity provider. Each identity provider has its own, which ends with its id.',
  'CreateIdentityProvider.id': 'Reserved id, whose redirect URI you registered already. Default: a new id.',
  'StartTrial.id': 'Reserved id for a new identity provider. Default: a new id.',
  reserved_identity_provider_id:
    'New id for the next identity provider. Send it as `id` when you try and save it. Nothing is stored.',
  'StartedTrial.identity_provider_id':
    'Id of the saved identity provider, or the reserved id. Save the identity provider with it.',
  back_channel_logout_uri: 'Back-channel logout URI to register at the identity provider.',
  sign_in_url: 'Link that starts a sign-in at this identity provider.',
  'RoleMapping.value': 'Name of the group or role, as the identity provider or the token sends it.',
  organisation_role: 'Role in the organization that the group gives. Default: `member`.',
  workspace_role: 'Role in the workspace that the group gives.',
  'RoleMapping.workspace_id': 'Id or slug of the workspace. A workspace that does not exist is ignored.',
  single_sign_on_required:
    'Whether users must sign in by single sign-on. Passwords and passkeys then work only for break-glass users. Default: false.',
  break_glass_user_ids:
    'Ids of owners who may still sign in by every method when single sign-on is required, at most 10.',
  identity_provider_id:
    'Id of a saved identity provider, whose settings apply where the body leaves them out.',
  authorization_url: 'Address to open in a browser. The sign-in there is only a trial and opens no session.',
  'StartedTrial.expires_at': 'Time at which the trial ends.',
  'SignInTrial.expires_at': 'Time at which the trial ends.',
  'SignInTrial.status': '`pending` until the user has come back from the identity provider, then `done`.',
  'SignInTrial.result': 'Outcome of the trial. Absent while it is pending.',
  'TrialResult.claims': 'Claims that the identity provider sent. Empty if the sign-in failed before.',
  'TrialResult.action':
    'What a real sign-in would do: `sign_in` a linked user, `link` the account to an existing user, or `create` a user. Null if it would be refused.',
  'TrialResult.email': 'E-mail address that the identity provider sent. Null if there was none.',
  'TrialResult.role': 'Role in the organization after the sign-in. Null if it would be refused.',
  'TrialResult.workspaces':
    'Workspaces and roles that the mappings give. Null if the user keeps their current roles.',
  'TrialResult.error': 'Why the sign-in would be refused. Absent if it would succeed.',
  'TrialWorkspace.workspace_id': 'Id or slug of the workspace, as the mapping has it.',
  logout_token: 'Logout token of OpenID Connect Back-Channel Logout 1.0, signed by the identity provider.',
  logout_url: 'Address at which the browser also signs out at the identity provider. Null if it has none.',

  issuers: 'Accepted values of the claim `iss`, 1 to 20.',
  audiences: 'Accepted values of the claim `aud`, 1 to 20. A token must have one of them.',
  jwks_uri: 'URL at which the issuer publishes its keys. Give either this or `jwks`.',
  jwks: 'The public keys themselves, as a JSON Web Key Set. Give either this or `jwks_uri`.',
  algorithms: 'Accepted signature algorithms. Default: RS256, PS256, ES256 and EdDSA.',
  token_types:
    'Accepted values of the header `typ`; a token without one counts as `JWT`. Default: `jwt` and `at+jwt`.',
  max_lifetime_seconds:
    'Longest accepted lifetime of a token in seconds, 60 to 604,800. Default: 86,400 (one day).',
  allow_owners:
    'Whether tokens may stand for owners. Default: false. They need no step-up and no second factor.',
  'OrganizationJwt.set_by':
    'Id of the owner who saved the setting last. Tokens give no more than this user has now. Null if it dates from 0.1.0.',
  'SetOrganizationJwt.claims':
    'Names of the claims from which the gateway reads a token. Default: those of the fields below.',
  'OrganizationJwt.claims': 'Names of the claims from which the gateway reads a token.',
  'ClaimNames.user':
    'Claims that identify the user by e-mail address or id. The first that is present counts.',
  'ClaimNames.organisation': 'Claims that name the organization. The first that is present counts.',
  'ClaimNames.workspace': 'Claims that name the workspace. The first that is present counts.',
  'ClaimNames.roles':
    'Claims that hold the groups or roles for `role_mappings`. The first that is present counts.',
  'ClaimNames.scopes': 'Claims that hold the scopes of the token. The first that is present counts.',
  unknown_people:
    'What happens to a token of an unknown user: `service` lets it act for the workspace that it names; `refuse` refuses it; `create` creates the user if the token has an e-mail address. Default: `service`.',
  highest_organisation_role: 'Highest role in the organization that a token can give. Default: `member`.',
  highest_workspace_role: 'Highest role in a workspace that a token can give. Default: `member`.',
  max_people: 'Number of users at which tokens create no further users. Default: 10,000.',
  'OrganizationJwt.keys': 'Public keys that are in use.',
  kid: 'Key id of the public key. Null if it has none.',
  alg: 'Signature algorithm of the public key. Null if it names none.',
  fetched_at: 'Time at which the keys were last fetched. Null if they were given, or not fetched yet.',
  'OrganizationJwt.problem': 'What was wrong with the last fetch of the keys. Null if it succeeded.',
  'SetOrganizationJwt.enabled': 'Whether signed tokens are accepted. Default: true.',
};
