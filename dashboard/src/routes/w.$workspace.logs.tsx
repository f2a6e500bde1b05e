import { createFileRoute, Outlet, useParams } from '@tanstack/react-router';
import { LogsPage } from '../screens/logs/logs-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/logs')({
  validateSearch: texts('range', 'filter', 'columns', 'live', 'tab'),
  component: LogsRoute,
});

function LogsRoute() {
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const { id } = useParams({ strict: false });
  return (
    <>
      <LogsPage
        search={search}
        onSearch={(next) => {
          // Back undoes a filter or a range, but not a column.
          const isSameView = next.range === search.range && next.filter === search.filter;
          void navigate({ search: next, replace: isSameView });
        }}
        openId={id}
        onOpen={(opened) =>
          void navigate({
            to: '/w/$workspace/logs/$id',
            params: (given) => ({ ...given, id: opened }),
            search,
          })
        }
      />
      <Outlet />
    </>
  );
}
