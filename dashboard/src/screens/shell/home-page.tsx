import { Navigate } from '@tanstack/react-router';
import { ErrorCard, Loading } from '../../parts/states/states';
import { shownError } from '../../api/load-state';
import { lastWorkspaceOf } from '../../session/last-workspace';
import { useSession } from '../../session/session';
import { NoWorkspacePage } from './no-workspace-page';
import styles from './home-page.module.css';

/** `/ui/`: redirects to the last workspace, or to the sign-in page. */
export function HomePage() {
  const { data: session, error, refetch } = useSession();
  if (session === null) return <Navigate to="/sign-in" search={{}} replace />;
  const last = session && lastWorkspaceOf(session);
  if (last)
    return <Navigate to="/w/$workspace/overview" params={{ workspace: last.slug }} search={{}} replace />;
  if (session) return <NoWorkspacePage session={session} />;
  return (
    <main className={styles.page}>
      {error && <ErrorCard error={shownError(error)} onRetry={() => void refetch()} />}
      {!error && <Loading />}
    </main>
  );
}
