import { createFileRoute } from '@tanstack/react-router';
import { ConfigPage } from '../screens/configs/config-page';

export const Route = createFileRoute('/w/$workspace/configs/$slug/versions/$version')({
  component: ConfigVersionRoute,
});

function ConfigVersionRoute() {
  const { workspace, slug, version } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <ConfigPage
      slug={slug}
      tab="versions"
      version={Number(version)}
      onTab={(tab) =>
        void navigate({ to: '/w/$workspace/configs/$slug', params: { workspace, slug }, search: { tab } })
      }
      onVersion={(next) =>
        void navigate({ params: { workspace, slug, version: String(next) }, replace: true })
      }
      onRemoved={() => void navigate({ to: '/w/$workspace/configs', params: { workspace } })}
    />
  );
}
