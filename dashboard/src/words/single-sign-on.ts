/** Texts for signing in with an identity provider: the sign-in page and the step-up dialog. */
export const singleSignOnWords = {
  continueWith: (provider: string) => `Continue with ${provider}`,
  organization: (name: string) => `Your organization: ${name}`,
  otherAccount: 'You can choose another account there.',
  or: 'or with your password',
  failed: 'You are not signed in',
  requestId: 'Request id',
  toDashboard: 'Go to Overview',
  unknownError: (code: string) => `The sign-in ended with the error ${code}. Try again, or ask an admin.`,
  errors: {
    invalid_request: 'The sign-in link is not valid. Start again from this page.',
    not_found: 'This identity provider does not exist any more, or is disabled. Ask an admin.',
    rate_limited: 'Too many failed sign-ins from your address. Wait a few minutes and try again.',
    sso_state_invalid:
      'This sign-in started in another browser, took longer than 10 minutes, or was completed already. Start again.',
    sso_provider_unavailable:
      'The identity provider cannot be reached or sends an invalid response. Try again later, or ask an admin.',
    sso_refused:
      'The identity provider refused the sign-in. You may have cancelled it, or you may not be assigned to this application there.',
    sso_response_invalid:
      "The response of the identity provider was not accepted. Ask an admin to check the provider's client id and secret.",
    sso_email_unverified:
      'The identity provider does not confirm that your e-mail address is verified. Verify it there, or ask an admin.',
    sso_domain_not_allowed:
      'This identity provider is not set up for e-mail addresses of your domain. Ask an admin.',
    sso_user_unknown: 'You do not have an account here yet. Ask an admin to invite you.',
    sso_user_deactivated: 'Your account is deactivated. Ask an admin to activate it.',
    sso_account_mismatch:
      'Your e-mail address belongs to a user with another account at this identity provider. Ask an owner to unlink that account.',
    sso_groups_overage:
      'You are in more groups than the identity provider sends, so your role is unknown. Ask an admin to send only the groups of this application.',
  } as Readonly<Record<string, string>>,
  required: 'Your organization requires single sign-on. Continue with its identity provider.',
  trialTitle: 'The test sign-in is complete',
  trialText: 'The result is on the page where you started the test. You can close this tab.',
  stepUpText: (provider: string) =>
    `${provider} asks you to sign in again, and you return to this page. Changes that are not saved are lost.`,
};
