import { createFileRoute } from '@tanstack/react-router';
import { VirtualKeysPage } from '../screens/virtual-keys/virtual-keys-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/virtual-keys')({
  validateSearch: texts('create'),
  component: VirtualKeysRoute,
});

function VirtualKeysRoute() {
  const { create } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <VirtualKeysPage
      isCreating={create === 'on'}
      onCreating={(isOpen) => void navigate({ search: isOpen ? { create: 'on' } : {} })}
    />
  );
}
