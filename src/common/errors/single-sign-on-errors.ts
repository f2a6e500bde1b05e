import type { ErrorSpec } from './error-spec.js';

/** The part of the error table about signing in with an identity provider. */
export const SINGLE_SIGN_ON_ERRORS = {
  single_sign_on_required: {
    status: 403,
    type: 'permission_error',
    message: 'Your organization requires single sign-on. Sign in with its identity provider.',
  },
  sso_state_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'This sign-in was started in another browser, took longer than 10 minutes, or was completed already. Start again from the sign-in page.',
  },
  sso_provider_unavailable: {
    status: 503,
    type: 'server_error',
    message: 'The identity provider cannot be used: {detail}.',
  },
  sso_refused: {
    status: 403,
    type: 'permission_error',
    message: 'The identity provider refused the sign-in: {detail}.',
  },
  sso_response_invalid: {
    status: 403,
    type: 'permission_error',
    message: 'The response of the identity provider was not accepted: {detail}.',
  },
  sso_email_unverified: {
    status: 403,
    type: 'permission_error',
    message:
      'The identity provider did not confirm that your e-mail address is verified. Ask an administrator to verify it there, or to send the claim "email_verified" or "xms_edov".',
  },
  sso_domain_not_allowed: {
    status: 403,
    type: 'permission_error',
    message: 'This identity provider is not set up for addresses of your domain.',
  },
  sso_user_unknown: {
    status: 403,
    type: 'permission_error',
    message: 'You are not a user of this organization yet. Ask an administrator for an invite.',
  },
  sso_user_deactivated: {
    status: 403,
    type: 'permission_error',
    message: 'Your user is deactivated. Ask an administrator of your organization.',
  },
  sso_account_mismatch: {
    status: 403,
    type: 'permission_error',
    message:
      'Your e-mail address belongs to a user who signs in with another account of this identity provider. Ask an administrator to unlink that account.',
  },
  sso_groups_overage: {
    status: 403,
    type: 'permission_error',
    message:
      'You are in more groups than the identity provider puts into a token, so your roles are unknown. Ask an administrator to send only the groups assigned to the application.',
  },
  logout_token_invalid: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The logout token was not accepted: {detail}.',
  },
} as const satisfies Record<string, ErrorSpec>;
