import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

export type NewLogExport = paths['/v1/logs/exports']['post']['requestBody']['content']['application/json'];
export type LogExport =
  paths['/v1/logs/exports/{id}']['get']['responses'][200]['content']['application/json'];
export type ExportField = NewLogExport['requested_data'][number];
export type ExportFormat = NonNullable<NewLogExport['format']>;

const POLL_MS = 1_000;

/** Fields that the organization excludes from exports. */
export const exportRestrictionsQuery = queryOptions({
  queryKey: ['log-exports', 'restrictions'],
  queryFn: ({ signal }) => dataOf(client.GET('/v1/logs/exports/field-restrictions', { signal })),
});

/** Polled until the file is written or the export stops. */
export const logExportQuery = (id: string) =>
  queryOptions({
    queryKey: ['log-exports', id],
    queryFn: ({ signal }) =>
      dataOf(client.GET('/v1/logs/exports/{id}', { params: { path: { id } }, signal })),
    refetchInterval: ({ state }) =>
      state.data === undefined || ['draft', 'in_progress'].includes(state.data.status) ? POLL_MS : false,
  });

/** Creates and starts an export. Returns its id. */
export async function startLogExport(body: NewLogExport): Promise<string> {
  const { id } = await dataOf(client.POST('/v1/logs/exports', { body }));
  await dataOf(client.POST('/v1/logs/exports/{id}/start', { params: { path: { id } } }));
  return id;
}

export const stopLogExport = (id: string) =>
  dataOf(client.POST('/v1/logs/exports/{id}/cancel', { params: { path: { id } } }));

/** A link to the file, which works for 15 minutes. */
export const logExportLink = async (id: string): Promise<string> => {
  const { signed_url } = await dataOf(
    client.GET('/v1/logs/exports/{id}/download', { params: { path: { id } } }),
  );
  const { pathname, search } = new URL(signed_url);
  return pathname + search;
};
