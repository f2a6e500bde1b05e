import { createFileRoute } from '@tanstack/react-router';
import { RefusedCredentialsPage } from '../screens/refused-credentials/refused-credentials-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';
import { texts } from '../search';

export const Route = createFileRoute('/org/refused-keys')({
  validateSearch: texts('filter'),
  component: RefusedKeysRoute,
});

function RefusedKeysRoute() {
  const { filter } = Route.useSearch();
  const navigate = Route.useNavigate();
  return (
    <WorkspaceFrame slug={null}>
      <RefusedCredentialsPage
        filter={filter}
        onFilter={(next) => void navigate({ search: { filter: next }, replace: true })}
      />
    </WorkspaceFrame>
  );
}
