import { Navigate, Outlet, useRouterState } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense, useEffect, useState } from 'react';
import { useHotkeys } from '@mantine/hooks';
import type { Session, SessionWorkspace } from '../../api/auth';
import { nameWorkspace } from '../../api/client';
import { shownError } from '../../api/load-state';
import { useOutage } from '../../api/use-outage';
import { Shell } from '../../parts/shell/shell';
import { ErrorCard, Loading } from '../../parts/states/states';
import { ZoneProvider } from '../../parts/zone';
import { PlaceProvider, useSession } from '../../session/session';
import { lastWorkspaceOf, rememberWorkspace } from '../../session/last-workspace';
import { useTimeZone } from '../../session/time-zone';
import { words } from '../../words/en';
import { NotFoundPage } from './fallback-pages';
import { NoWorkspacePage } from './no-workspace-page';
import { isOrganizationPage, navigationOf, renderNavigationLink } from './navigation';
import { PersonMenu } from './person-menu';
import { WorkspaceSwitcher } from './workspace-switcher';
import styles from './workspace-frame.module.css';

const CommandPalette = lazy(() =>
  import('./command-palette').then((module) => ({ default: module.CommandPalette })),
);

interface WorkspaceFrameProps {
  /** Null for pages of the organization and of the user: the last workspace stays in the sidebar. */
  readonly slug: string | null;
  readonly children?: ReactNode;
}

function workspaceOf(session: Session, slug: string | null): SessionWorkspace | undefined {
  if (slug === null) return lastWorkspaceOf(session);
  return session.workspaces.find((one) => one.slug === slug || one.id === slug);
}

/** The pages of one workspace for a signed-in user. The frame itself needs no data but the session. */
export function WorkspaceFrame({ slug, children = <Outlet /> }: WorkspaceFrameProps) {
  const { data: session, error, refetch } = useSession();
  if (session === null)
    return <Navigate to="/sign-in" search={{ return_to: location.pathname + location.search }} replace />;
  if (session) {
    const found = workspaceOf(session, slug);
    // A wrong slug: the sidebar shows the last workspace.
    const workspace = found ?? workspaceOf(session, null);
    return workspace ? (
      <SignedInFrame
        session={session}
        workspace={workspace}
        isOfWorkspace={slug !== null && found !== undefined}
      >
        {found ? children : <NotFoundPage />}
      </SignedInFrame>
    ) : (
      <NoWorkspacePage session={session} />
    );
  }
  return (
    <Shell
      groups={navigationOf(null)}
      renderLink={(link, className, content) => renderNavigationLink(slug ?? '', link, className, content)}
      switcher={null}
      person={null}
      crumbs={[]}
      openSearch={() => undefined}
    >
      <div className={styles.waiting}>
        {error ? <ErrorCard error={shownError(error)} onRetry={() => void refetch()} /> : <Loading />}
      </div>
    </Shell>
  );
}

interface SignedInFrameProps {
  readonly session: Session;
  readonly workspace: SessionWorkspace;
  readonly isOfWorkspace: boolean;
  readonly children: ReactNode;
}

function SignedInFrame(props: SignedInFrameProps) {
  const { session, workspace, isOfWorkspace, children } = props;
  const outage = useOutage();
  nameWorkspace(session.role === 'member' && session.workspaces.length > 1 ? workspace.slug : null);
  useEffect(() => rememberWorkspace(workspace), [workspace]);
  const { zone } = useTimeZone();
  const [isSearching, setSearching] = useState(false);
  useHotkeys([['mod+K', () => setSearching(true)]], []);
  const isOfOrganization = useRouterState({
    select: ({ location: { pathname } }) => isOrganizationPage(pathname),
  });
  const may = (scope: string): boolean => workspace.scopes.includes(scope) || session.scopes.includes(scope);
  return (
    <PlaceProvider value={{ session, workspace }}>
      <ZoneProvider value={zone}>
        <Shell
          groups={navigationOf(may)}
          renderLink={(link, className, content) =>
            renderNavigationLink(workspace.slug, link, className, content)
          }
          switcher={<WorkspaceSwitcher session={session} workspace={workspace} />}
          person={<PersonMenu />}
          crumbs={
            isOfWorkspace && !isOfOrganization
              ? [session.organisation.name, workspace.name]
              : [session.organisation.name]
          }
          openSearch={() => setSearching(true)}
          banner={
            outage && (
              <p className={styles.banner} role="status">
                {words.shell[outage]}
              </p>
            )
          }
        >
          {children}
        </Shell>
        {isSearching && (
          <Suspense fallback={null}>
            <CommandPalette onClose={() => setSearching(false)} />
          </Suspense>
        )}
      </ZoneProvider>
    </PlaceProvider>
  );
}
