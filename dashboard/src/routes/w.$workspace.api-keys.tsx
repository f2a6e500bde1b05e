import { createFileRoute } from '@tanstack/react-router';
import { ApiKeysPage } from '../screens/api-keys/api-keys-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/api-keys')({
  validateSearch: texts('create', 'filter'),
  component: ApiKeysRoute,
});

function ApiKeysRoute() {
  const { create, filter } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ApiKeysPage
      isCreating={create === 'on'}
      filter={filter}
      onCreating={(isOpen) => void navigate({ search: { filter, ...(isOpen && { create: 'on' }) } })}
      onFilter={(next) => void navigate({ search: { filter: next }, replace: true })}
    />
  );
}
