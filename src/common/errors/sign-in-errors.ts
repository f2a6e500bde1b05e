import type { ErrorSpec } from './error-spec.js';
import { SINGLE_SIGN_ON_ERRORS } from './single-sign-on-errors.js';

/** The part of the error table about sessions and sign-in credentials. */
export const SIGN_IN_ERRORS = {
  ...SINGLE_SIGN_ON_ERRORS,
  ambiguous_credentials: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request carries more than one gateway credential: {detail}.',
  },
  workspace_required: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'The request must name a workspace, because you belong to several or to none. Send its id or slug in the header x-gateway-workspace.',
  },
  password_unacceptable: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This password cannot be used: {detail}.',
  },
  sign_in_failed: {
    status: 401,
    type: 'authentication_error',
    message: 'The e-mail address or the password is wrong, or your organization requires single sign-on.',
  },
  second_factor_required: {
    status: 403,
    type: 'permission_error',
    message:
      'Your account has a second factor. Send the code of your authenticator app, or a recovery code, in the field "code".',
  },
  second_factor_failed: {
    status: 403,
    type: 'permission_error',
    message: 'The code is wrong, expired or used. Send the next one, or a recovery code.',
  },
  passkey_failed: {
    status: 403,
    type: 'permission_error',
    message: 'The passkey was not accepted. Request new options and try again.',
  },
  passkeys_unavailable: {
    status: 409,
    type: 'conflict_error',
    message: 'Passkeys need a host name. Set GATEHOUSE_PUBLIC_URL to an address with one.',
  },
  step_up_required: {
    status: 403,
    type: 'permission_error',
    message:
      'This change requires you to verify your identity again. Send your password to POST /v1/auth/step-up, or sign in again with single sign-on, then try again.',
  },
  session_ended: {
    status: 401,
    type: 'authentication_error',
    message: 'Your session has ended. Sign in again.',
  },
  reauthentication_failed: {
    status: 403,
    type: 'permission_error',
    message: 'The password is wrong.',
  },
  csrf_rejected: {
    status: 403,
    type: 'permission_error',
    message: 'The request was refused to protect your session: {detail}.',
  },
  sign_in_link_gone: {
    status: 410,
    type: 'not_found_error',
    message:
      'This link was already used or has expired. Ask an administrator of the installation for another one.',
  },
} as const satisfies Record<string, ErrorSpec>;
