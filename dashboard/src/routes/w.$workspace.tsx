import { createFileRoute } from '@tanstack/react-router';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';

export const Route = createFileRoute('/w/$workspace')({ component: WorkspaceRoute });

function WorkspaceRoute() {
  const { workspace } = Route.useParams();
  return <WorkspaceFrame slug={workspace} />;
}
