import { createFileRoute } from '@tanstack/react-router';
import { useCallback } from 'react';
import { LimitsPage } from '../screens/limits/limits-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/limits')({
  validateSearch: texts('add', 'raise'),
  component: LimitsRoute,
});

function LimitsRoute() {
  const { add, raise } = Route.useSearch();
  const { workspace } = Route.useParams();
  const navigate = Route.useNavigate();
  const onRaising = useCallback(
    (id: string | undefined) => void navigate({ search: id === undefined ? {} : { raise: id } }),
    [navigate],
  );
  return (
    <LimitsPage
      isAdding={add === 'on'}
      raised={raise}
      onAdding={(isOpen) => void navigate({ search: isOpen ? { add: 'on' } : {} })}
      onKey={(id) =>
        void navigate({ to: '/w/$workspace/api-keys', params: { workspace }, search: { edit: id } })
      }
      onRaising={onRaising}
    />
  );
}
