import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

type Answer<Path extends '/v1/auth/sessions' | '/v1/auth/passkeys'> =
  paths[Path]['get']['responses'][200]['content']['application/json']['data'][number];
export type OwnSession = Answer<'/v1/auth/sessions'>;
export type NewPassword = paths['/v1/auth/password']['post']['requestBody']['content']['application/json'];

/** Common key prefix, so that one invalidation reloads everything. */
export const ACCOUNT = 'account';

export const accountQuery = queryOptions({
  queryKey: [ACCOUNT, 'signed-in'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/auth/session', { signal })),
});

export const ownSessionsQuery = queryOptions({
  queryKey: [ACCOUNT, 'sessions'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/auth/sessions', { signal })),
});

export const passkeysQuery = queryOptions({
  queryKey: [ACCOUNT, 'passkeys'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/auth/passkeys', { signal })),
});

export const endSession = (id: string) =>
  dataOf(client.DELETE('/v1/auth/sessions/{id}', { params: { path: { id } } }));
export const endOtherSessions = () => dataOf(client.DELETE('/v1/auth/sessions'));
export const changePassword = (body: NewPassword) => dataOf(client.POST('/v1/auth/password', { body }));
export const beginTotp = () => dataOf(client.POST('/v1/auth/totp'));
export const confirmTotp = (code: string) => dataOf(client.POST('/v1/auth/totp/confirm', { body: { code } }));
export const removeTotp = () => dataOf(client.DELETE('/v1/auth/totp'));
export const renewRecoveryCodes = () => dataOf(client.POST('/v1/auth/recovery-codes'));
export const removePasskey = (id: string) =>
  dataOf(client.DELETE('/v1/auth/passkeys/{id}', { params: { path: { id } } }));
