import { createFileRoute } from '@tanstack/react-router';
import { AccountPage } from '../screens/sign-in/account/account-page';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';

export const Route = createFileRoute('/account')({ component: AccountRoute });

function AccountRoute() {
  return (
    <WorkspaceFrame slug={null}>
      <AccountPage />
    </WorkspaceFrame>
  );
}
