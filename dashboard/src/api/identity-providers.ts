import { queryOptions } from '@tanstack/react-query';
import { ApiError, client, dataOf } from './client';
import type { paths } from './schema';

type List = '/v1/admin/organisation/identity-providers';
type Trials = '/v1/admin/organisation/sign-in-trials';

export type IdentityProvider =
  paths[List]['get']['responses'][200]['content']['application/json']['data'][number];
export type NewIdentityProvider = paths[List]['post']['requestBody']['content']['application/json'];
export type RoleMapping = IdentityProvider['role_mappings'][number];
export type TrialDraft = NonNullable<paths[Trials]['post']['requestBody']>['content']['application/json'];
export type Trial =
  paths['/v1/admin/organisation/sign-in-trials/{id}']['get']['responses'][200]['content']['application/json'];
export type TrialResult = NonNullable<Trial['result']>;

/** Common key prefix, so that one invalidation reloads everything. */
export const IDENTITY_PROVIDERS = 'identity-providers';
const TRIAL_POLL_MS = 1_500;

export const identityProvidersQuery = queryOptions({
  queryKey: [IDENTITY_PROVIDERS, 'list'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/admin/organisation/identity-providers', { signal })),
});

/** The id and the addresses of the next provider. They stay the same while a form is open: its owner registers them. */
export const reservedProviderQuery = (form: string) =>
  queryOptions({
    queryKey: ['reserved-identity-provider', form],
    queryFn: ({ signal }) => dataOf(client.GET('/v1/admin/organisation/sign-in', { signal })),
    staleTime: Infinity,
    gcTime: 0,
  });

/** Whether single sign-on is required, and who is exempt. */
export const signInSettingsQuery = queryOptions({
  queryKey: [IDENTITY_PROVIDERS, 'settings'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/admin/organisation/sign-in', { signal })),
});

/** Polls until the provider has responded. A trial ends after 10 minutes: it is not found then, and polling stops. */
export const trialQuery = (id: string | null) =>
  queryOptions({
    queryKey: [IDENTITY_PROVIDERS, 'trial', id],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/v1/admin/organisation/sign-in-trials/{id}', {
          params: { path: { id: id ?? '' } },
          signal,
        }),
      ),
    enabled: id !== null,
    retry: (count, error) => count < 3 && !(error instanceof ApiError && error.status === 404),
    refetchInterval: ({ state }) =>
      state.status === 'error' || state.data?.status === 'done' ? false : TRIAL_POLL_MS,
    // The user is in the provider's tab meanwhile.
    refetchIntervalInBackground: true,
  });

export const createIdentityProvider = (body: NewIdentityProvider) =>
  dataOf(client.POST('/v1/admin/organisation/identity-providers', { body }));

export const updateIdentityProvider = (id: string, body: Partial<NewIdentityProvider>) =>
  dataOf(client.PUT('/v1/admin/organisation/identity-providers/{id}', { params: { path: { id } }, body }));

export const deleteIdentityProvider = (id: string) =>
  dataOf(client.DELETE('/v1/admin/organisation/identity-providers/{id}', { params: { path: { id } } }));

export const startTrial = (body: TrialDraft) =>
  dataOf(client.POST('/v1/admin/organisation/sign-in-trials', { body }));

export const saveSignInSettings = (isRequired: boolean, breakGlassUserIds: string[]) =>
  dataOf(
    client.PUT('/v1/admin/organisation/sign-in', {
      body: { single_sign_on_required: isRequired, break_glass_user_ids: breakGlassUserIds },
    }),
  );
