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

/** `signInUrl`: from the server; the browser returns to `returnTo`, a path below `/ui/`. */
export function signOnAddress(signInUrl: string, returnTo: string | undefined): string {
  const url = new URL(signInUrl, location.origin);
  if (returnTo !== undefined) url.searchParams.set('return_to', returnTo);
  return url.href;
}

/** Where the user of a session from this provider signs in again, before returning to this page. */
export function reauthenticationAddress(provider: string): string {
  const url = new URL('/v1/auth/single-sign-on/start', location.origin);
  const here = location.pathname + location.search;
  url.search = new URLSearchParams({ provider, reauthenticate: 'true', return_to: here }).toString();
  return url.href;
}
