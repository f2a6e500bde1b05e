import { createFileRoute } from '@tanstack/react-router';
import { ApiKeysPage } from '../screens/api-keys/api-keys-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/api-keys')({
  validateSearch: texts('create'),
  component: ApiKeysRoute,
});

function ApiKeysRoute() {
  const { create } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ApiKeysPage
      isCreating={create === 'on'}
      onCreating={(isOpen) => void navigate({ search: isOpen ? { create: 'on' } : {} })}
    />
  );
}
