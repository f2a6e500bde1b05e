import type { ErrorSpec } from './error-spec.js';

/** The part of the error table that is about users who sign in to the dashboard. */
export const SIGN_IN_ERRORS = {
  workspace_required: {
    status: 400,
    type: 'invalid_request_error',
    message:
      'You are not a member of exactly one workspace, so the request must name one. Send its id or slug in the header x-gateway-workspace.',
  },
  password_unacceptable: {
    status: 400,
    type: 'invalid_request_error',
    message: 'This password cannot be used: {detail}.',
  },
  sign_in_failed: {
    status: 401,
    type: 'authentication_error',
    message: 'The e-mail address or the password is wrong.',
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
    message: 'This link is used or expired. Ask an administrator of the installation for another one.',
  },
} as const satisfies Record<string, ErrorSpec>;
