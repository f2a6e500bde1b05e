import { createFileRoute } from '@tanstack/react-router';
import { useCallback } from 'react';
import { VirtualKeysPage } from '../screens/virtual-keys/virtual-keys-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/virtual-keys')({
  validateSearch: texts('create', 'edit'),
  component: VirtualKeysRoute,
});

function VirtualKeysRoute() {
  const { create, edit } = Route.useSearch();
  const navigate = Route.useNavigate();
  const onEditing = useCallback(
    (slug: string | undefined) => void navigate({ search: slug === undefined ? {} : { edit: slug } }),
    [navigate],
  );
  return (
    <VirtualKeysPage
      isCreating={create === 'on'}
      edited={edit}
      onCreating={(isOpen) => void navigate({ search: isOpen ? { create: 'on' } : {} })}
      onEditing={onEditing}
    />
  );
}
