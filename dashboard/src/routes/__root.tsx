import { createRootRoute, Outlet } from '@tanstack/react-router';
import { CrashPage } from '../screens/shell/fallback-pages';
import { ShortAddress } from '../screens/shell/short-address';
import { WorkspaceFrame } from '../screens/shell/workspace-frame';
import { SignInGate } from '../screens/sign-in/sign-in-gate';
import { StepUpGate } from '../screens/sign-in/step-up-gate';

export const Route = createRootRoute({
  component: Root,
  errorComponent: CrashPage,
  notFoundComponent: UnknownAddress,
});

function Root() {
  return (
    <>
      <Outlet />
      <StepUpGate />
      <SignInGate />
    </>
  );
}

function UnknownAddress() {
  return (
    <WorkspaceFrame slug={null}>
      <ShortAddress />
    </WorkspaceFrame>
  );
}
