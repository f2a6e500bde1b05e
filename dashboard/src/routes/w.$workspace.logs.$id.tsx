import { createFileRoute } from '@tanstack/react-router';
import { LogDrawer } from '../screens/logs/log-drawer';
import { useLogList } from '../screens/logs/use-log-list';

export const Route = createFileRoute('/w/$workspace/logs/$id')({ component: LogRoute });

function LogRoute() {
  const { id, workspace } = Route.useParams();
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  const { rows } = useLogList(search);
  const step = (by: -1 | 1): void => {
    const next = rows[rows.findIndex((row) => row.id === id) + by];
    if (next)
      void navigate({
        to: '/w/$workspace/logs/$id',
        params: { workspace, id: next.id },
        search,
        replace: true,
      });
  };
  return (
    <LogDrawer
      id={id}
      tab={search.tab}
      range={search.range}
      onTab={(tab) => void navigate({ search: { ...search, tab }, replace: true })}
      onStep={step}
      onClose={() => void navigate({ to: '/w/$workspace/logs', params: { workspace }, search })}
    />
  );
}
