import { createFileRoute } from '@tanstack/react-router';
import { useCallback } from 'react';
import { LimitsPage } from '../screens/limits/limits-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/limits')({
  validateSearch: texts('raise'),
  component: LimitsRoute,
});

function LimitsRoute() {
  const { raise } = Route.useSearch();
  const navigate = Route.useNavigate();
  const onRaising = useCallback(
    (id: string | undefined) => void navigate({ search: id === undefined ? {} : { raise: id } }),
    [navigate],
  );
  return <LimitsPage raised={raise} onRaising={onRaising} />;
}
