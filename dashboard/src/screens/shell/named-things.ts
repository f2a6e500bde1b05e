import { keepPreviousData, type QueryKey, useQueries } from '@tanstack/react-query';
import { configsQuery } from '../../api/configs';
import { apiKeysQuery } from '../../api/keys';
import { peopleQuery } from '../../api/people';
import { virtualKeysQuery } from '../../api/virtual-keys';
import { words } from '../../words/en';

/** Something with a name and a page, as the search of the shell finds it. */
export interface NamedThing {
  readonly key: string;
  readonly title: string;
  readonly to: string;
  readonly search?: Readonly<Record<string, string>>;
}

const FIRST_PAGE = { current_page: 0, page_size: 100 };

/** A `ListQuery` as far as it is read here. */
interface NameList {
  readonly queryKey: QueryKey;
  readonly readPage: (
    page: typeof FIRST_PAGE,
    signal: AbortSignal,
  ) => Promise<{ readonly data: readonly Row[] }>;
}

interface Source {
  readonly scopes: readonly string[];
  /** Reads the first page; `text` is what was typed. */
  readonly list: (workspace: string, text: string) => NameList;
  readonly thingOf: (row: Row, workspace: string) => NamedThing;
}

/** The fields of the rows of all sources that are searched and shown. */
interface Row {
  readonly id: string;
  readonly name?: string;
  readonly slug?: string;
  readonly email?: string;
  readonly first_name?: string | null;
  readonly last_name?: string | null;
}

const { kinds } = words.shell;
const found = (
  kind: string,
  { id, name = '' }: Row,
  place: Omit<NamedThing, 'key' | 'title'>,
): NamedThing => ({
  key: `${kind} ${id}`,
  title: `${kind} ${name}`,
  ...place,
});

const SOURCES: readonly Source[] = [
  {
    scopes: ['workspace_service_api_keys.list', 'workspace_user_api_keys.list'],
    list: (workspace_id, name) => apiKeysQuery({ workspace_id, name }),
    thingOf: (row, workspace) =>
      found(kinds.apiKey, row, { to: `/w/${workspace}/api-keys`, search: { edit: row.id } }),
  },
  {
    scopes: ['configs.list'],
    list: (workspace) => configsQuery(workspace),
    thingOf: (row, workspace) =>
      found(kinds.config, row, { to: `/w/${workspace}/configs/${row.slug ?? ''}` }),
  },
  {
    scopes: ['virtual_keys.list'],
    list: (workspace) => virtualKeysQuery(workspace),
    thingOf: (row, workspace) =>
      found(kinds.virtualKey, row, { to: `/w/${workspace}/virtual-keys`, search: { edit: row.slug ?? '' } }),
  },
  {
    scopes: ['organisation_users.list'],
    list: () => peopleQuery,
    thingOf: (row) => found(kinds.person, { ...row, name: row.email ?? '' }, { to: `/org/people/${row.id}` }),
  },
];

const SHORTEST = 2;
const MOST_OF_A_KIND = 5;

const matches = (row: Row, text: string): boolean =>
  [row.name, row.slug, row.email, row.first_name, row.last_name].some((each) =>
    each?.toLowerCase().includes(text),
  );

/** API keys, configs, virtual keys and users whose name contains a text, as far as the user may list them. */
export function useNamedThings(
  text: string,
  workspace: string,
  may: (scope: string) => boolean,
): readonly NamedThing[] {
  const wanted = text.toLowerCase();
  return useQueries({
    queries: SOURCES.map(({ scopes, list }) => {
      const { queryKey, readPage } = list(workspace, text);
      return {
        queryKey: ['named-things', ...queryKey],
        queryFn: ({ signal }: { signal: AbortSignal }) => readPage(FIRST_PAGE, signal),
        enabled: text.length >= SHORTEST && scopes.some(may),
        staleTime: 30_000,
        placeholderData: keepPreviousData,
      };
    }),
    combine: (results) =>
      text.length < SHORTEST
        ? []
        : results.flatMap(({ data }, at) =>
            (data?.data ?? [])
              .filter((row) => matches(row, wanted))
              .slice(0, MOST_OF_A_KIND)
              .flatMap((row) => SOURCES[at]?.thingOf(row, workspace) ?? []),
          ),
  });
}
