import { createRootRoute, Outlet } from '@tanstack/react-router';
import { CrashPage, NotFoundPage } from '../screens/shell/fallback-pages';
import { StepUpGate } from '../screens/sign-in/step-up-gate';

export const Route = createRootRoute({
  component: Root,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});

function Root() {
  return (
    <>
      <Outlet />
      <StepUpGate />
    </>
  );
}
