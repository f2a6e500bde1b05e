import { Navigate, useLocation } from '@tanstack/react-router';
import { usePlace } from '../../session/session';
import { NotFoundPage } from './fallback-pages';
import { PAGES } from './navigation';

/** An address that no route has: `/logs` and the like open the page in the last workspace. */
export function ShortAddress() {
  const { pathname } = useLocation();
  const { workspace } = usePlace();
  const page = PAGES.find(({ to }) => to.slice(to.lastIndexOf('/')) === pathname);
  if (!page) return <NotFoundPage />;
  return <Navigate to={page.to} params={{ workspace: workspace.slug }} search={{}} replace />;
}
