import { client, dataOf } from './client';
import type { ListQuery } from './lists';
import type { paths } from './schema';

type RefusedCredentials =
  paths['/v1/audit-logs/refused-credentials']['get']['responses'][200]['content']['application/json'];
export type RefusedCredential = RefusedCredentials['data'][number];
export type RefusalReason = RefusedCredential['reason'];

/** Processes write what they refused every five seconds. */
const REFRESH_MS = 10_000;

/** Latest first. The pages also have the sum of the requests. */
export const refusedCredentialsQuery = (reason: RefusalReason | undefined) =>
  ({
    queryKey: ['refused-credentials', reason ?? ''],
    readPage: (page, signal): Promise<RefusedCredentials> =>
      dataOf(
        client.GET('/v1/audit-logs/refused-credentials', {
          params: { query: { ...page, ...(reason && { reason }) } },
          signal,
        }),
      ),
    refreshMs: REFRESH_MS,
  }) satisfies ListQuery<RefusedCredential>;
