import { createFileRoute } from '@tanstack/react-router';
import { ConfigPage, isConfigTab } from '../screens/configs/config-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/configs/$slug/')({
  validateSearch: texts('tab'),
  component: ConfigRoute,
});

function ConfigRoute() {
  const { workspace, slug } = Route.useParams();
  const { tab } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <ConfigPage
      slug={slug}
      tab={isConfigTab(tab) ? tab : 'edit'}
      version={null}
      onTab={(next) => void navigate({ search: { tab: next }, replace: true })}
      onVersion={(version) =>
        void navigate({
          to: '/w/$workspace/configs/$slug/versions/$version',
          params: { workspace, slug, version: String(version) },
        })
      }
      onRemoved={() => void navigate({ to: '/w/$workspace/configs', params: { workspace } })}
    />
  );
}
