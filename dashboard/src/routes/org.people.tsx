import { createFileRoute } from '@tanstack/react-router';
import { PeoplePage } from '../screens/people/people-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';

export const Route = createFileRoute('/org/people')({ component: PeopleRoute });

function PeopleRoute() {
  return (
    <WorkspaceFrame slug={null}>
      <PeoplePage />
    </WorkspaceFrame>
  );
}
