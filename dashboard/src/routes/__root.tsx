import { createRootRoute, Outlet } from '@tanstack/react-router';
import { CrashPage, NotFoundPage } from '../screens/shell/fallback-pages';

export const Route = createRootRoute({
  component: Outlet,
  errorComponent: CrashPage,
  notFoundComponent: NotFoundPage,
});
