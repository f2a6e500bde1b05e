import { Navigate } from '@tanstack/react-router';
import { ErrorCard, Loading } from '../../parts/states/states';
import { shownError } from '../../api/load-state';
import { useSession } from '../../session/session';
import { NoWorkspacePage } from './no-workspace-page';
import styles from './home-page.module.css';

/** `/ui/`: redirects to the first workspace, or to the sign-in page. */
export function HomePage() {
  const { data: session, error, refetch } = useSession();
  if (session === null) return <Navigate to="/sign-in" search={{}} replace />;
  const first = session?.workspaces[0];
  if (first)
    return <Navigate to="/w/$workspace/overview" params={{ workspace: first.slug }} search={{}} replace />;
  if (session) return <NoWorkspacePage session={session} />;
  return (
    <main className={styles.page}>
      {error && <ErrorCard error={shownError(error)} onRetry={() => void refetch()} />}
      {!error && <Loading />}
    </main>
  );
}
