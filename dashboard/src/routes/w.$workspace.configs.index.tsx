import { createFileRoute } from '@tanstack/react-router';
import { ConfigsPage } from '../screens/configs/configs-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/configs/')({
  validateSearch: texts('create'),
  component: ConfigsRoute,
});

function ConfigsRoute() {
  const { workspace } = Route.useParams();
  const { create } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ConfigsPage
      isCreating={create === 'on'}
      onCreating={(isOpen) => void navigate({ search: isOpen ? { create: 'on' } : {} })}
      onOpen={(slug) => void navigate({ to: '/w/$workspace/configs/$slug', params: { workspace, slug } })}
    />
  );
}
