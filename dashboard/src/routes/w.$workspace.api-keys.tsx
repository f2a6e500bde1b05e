import { createFileRoute } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ApiKeysPage } from '../screens/api-keys/api-keys-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/api-keys')({
  validateSearch: texts('create', 'edit', 'filter'),
  component: ApiKeysRoute,
});

function ApiKeysRoute() {
  const { create, edit, filter } = Route.useSearch();
  const navigate = Route.useNavigate();
  const onEditing = useCallback(
    (id: string | undefined) => void navigate({ search: { filter, edit: id } }),
    [navigate, filter],
  );
  return (
    <ApiKeysPage
      level="workspace"
      isCreating={create === 'on'}
      edited={edit}
      filter={filter}
      onCreating={(isOpen) => void navigate({ search: { filter, ...(isOpen && { create: 'on' }) } })}
      onEditing={onEditing}
      onFilter={(next) => void navigate({ search: { filter: next }, replace: true })}
    />
  );
}
