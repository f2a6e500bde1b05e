import { queryOptions } from '@tanstack/react-query';
import { client, dataOf } from './client';
import type { paths } from './schema';

export type LogView =
  paths['/v1/logs/views']['get']['responses'][200]['content']['application/json']['data'][number];
export type NewLogView = paths['/v1/logs/views']['post']['requestBody']['content']['application/json'];
export type LogViewChange = NonNullable<
  paths['/v1/logs/views/{id}']['put']['requestBody']
>['content']['application/json'];

/** The list's largest page, which is also the limit per user. */
const PAGE_SIZE = 100;

export const logViewsQuery = (workspace: string) =>
  queryOptions({
    queryKey: ['log-views', workspace],
    queryFn: ({ signal }) =>
      dataOf(
        client.GET('/v1/logs/views', {
          params: { query: { workspace_id: workspace, current_page: 0, page_size: PAGE_SIZE } },
          signal,
        }),
      ),
  });

export const createLogView = (body: NewLogView) => dataOf(client.POST('/v1/logs/views', { body }));

export const updateLogView = (id: string, body: LogViewChange) =>
  dataOf(client.PUT('/v1/logs/views/{id}', { params: { path: { id } }, body }));

export const deleteLogView = (id: string) =>
  dataOf(client.DELETE('/v1/logs/views/{id}', { params: { path: { id } } }));
