import { createFileRoute } from '@tanstack/react-router';
import { useCallback } from 'react';
import { IdentityProvidersPage } from '../screens/identity-providers/identity-providers-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';
import { texts } from '../search';

export const Route = createFileRoute('/org/sign-in')({
  validateSearch: texts('create', 'edit'),
  component: SignInSettingsRoute,
});

function SignInSettingsRoute() {
  const { create, edit } = Route.useSearch();
  const navigate = Route.useNavigate();
  const onEditing = useCallback(
    (id: string | undefined) => void navigate({ search: id === undefined ? {} : { edit: id } }),
    [navigate],
  );
  return (
    <WorkspaceFrame slug={null}>
      <IdentityProvidersPage
        isCreating={create === 'on'}
        edited={edit}
        onCreating={(isOpen) => void navigate({ search: isOpen ? { create: 'on' } : {} })}
        onEditing={onEditing}
      />
    </WorkspaceFrame>
  );
}
