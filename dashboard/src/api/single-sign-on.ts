import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';

/** Whether an address is typed far enough to have a domain. */
const isAddress = (text: string): boolean => /^[^@\s]+@[^@\s]+\.[^@\s.]{2,}$/.test(text);

/** The sign-in options of an email address besides a password. */
export const providersForAddress = (email: string) =>
  queryOptions({
    queryKey: ['single-sign-on', email.slice(email.lastIndexOf('@') + 1).toLowerCase()],
    queryFn: ({ signal }) => dataOf(client.POST('/v1/auth/single-sign-on', { body: { email }, signal })),
    enabled: isAddress(email),
    staleTime: 60_000,
    retry: false,
  });

interface SignOn {
  readonly email: string;
  /** A path below `/ui/`, to which the browser returns. */
  readonly returnTo: string | undefined;
  /** Whether the provider asks for the account even if the user is signed in there. */
  readonly selectsAccount: boolean;
}

/** `signInUrl`: from the server. */
export function signOnAddress(signInUrl: string, { email, returnTo, selectsAccount }: SignOn): string {
  const url = new URL(signInUrl, location.origin);
  url.searchParams.set('login_hint', email);
  if (returnTo !== undefined) url.searchParams.set('return_to', returnTo);
  if (selectsAccount) url.searchParams.set('select_account', 'true');
  return url.href;
}

/** Where the user of a session from this provider signs in again, before returning to this page. */
export function reauthenticationAddress(provider: string): string {
  const url = new URL('/v1/auth/single-sign-on/start', location.origin);
  const here = location.pathname + location.search;
  url.search = new URLSearchParams({ provider, reauthenticate: 'true', return_to: here }).toString();
  return url.href;
}
