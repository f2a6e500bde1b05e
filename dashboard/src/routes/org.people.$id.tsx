import { createFileRoute } from '@tanstack/react-router';
import { PersonPage } from '../screens/people/person-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';

export const Route = createFileRoute('/org/people/$id')({ component: PersonRoute });

function PersonRoute() {
  const { id } = Route.useParams();
  const navigate = Route.useNavigate();
  return (
    <WorkspaceFrame slug={null}>
      <PersonPage key={id} id={id} onRemoved={() => void navigate({ to: '/org/people' })} />
    </WorkspaceFrame>
  );
}
