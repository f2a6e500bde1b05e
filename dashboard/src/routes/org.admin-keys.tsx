import { createFileRoute } from '@tanstack/react-router';
import { useCallback } from 'react';
import { ApiKeysPage } from '../screens/api-keys/api-keys-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';
import { texts } from '../search';

export const Route = createFileRoute('/org/admin-keys')({
  validateSearch: texts('create', 'edit', 'filter'),
  component: AdminKeysRoute,
});

function AdminKeysRoute() {
  const { create, edit, filter } = Route.useSearch();
  const navigate = Route.useNavigate();
  const onEditing = useCallback(
    (id: string | undefined) => void navigate({ search: { filter, edit: id } }),
    [navigate, filter],
  );
  return (
    <WorkspaceFrame slug={null}>
      <ApiKeysPage
        level="organization"
        isCreating={create === 'on'}
        edited={edit}
        filter={filter}
        onCreating={(isOpen) => void navigate({ search: { filter, ...(isOpen && { create: 'on' }) } })}
        onEditing={onEditing}
        onFilter={(next) => void navigate({ search: { filter: next }, replace: true })}
      />
    </WorkspaceFrame>
  );
}
