/** How a user authenticated. */
export const SIGN_IN_METHODS = ['password', 'set_up_link', 'passkey', 'single_sign_on'] as const;

export type SignInMethod = (typeof SIGN_IN_METHODS)[number];
