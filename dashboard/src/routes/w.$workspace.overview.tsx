import { createFileRoute } from '@tanstack/react-router';
import { OverviewPage } from '../screens/overview/overview-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/overview')({
  validateSearch: texts('range'),
  component: OverviewRoute,
});

function OverviewRoute() {
  const { range } = Route.useSearch();
  const navigate = Route.useNavigate();
  return <OverviewPage range={range} onRange={(next) => void navigate({ search: { range: next } })} />;
}
