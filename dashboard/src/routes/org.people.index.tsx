import { createFileRoute } from '@tanstack/react-router';
import { PeoplePage } from '../screens/people/people-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';

export const Route = createFileRoute('/org/people/')({ component: PeopleRoute });

function PeopleRoute() {
  const navigate = Route.useNavigate();
  return (
    <WorkspaceFrame slug={null}>
      <PeoplePage onOpen={(id) => void navigate({ to: '/org/people/$id', params: { id } })} />
    </WorkspaceFrame>
  );
}
