import { Button } from '@mantine/core';
import type { Session } from '../../api/auth';
import { Brand } from '../../parts/brand';
import { EmptyState } from '../../parts/states/states';
import { useSession, useSignOut } from '../../session/session';
import { words } from '../../words/en';
import styles from './home-page.module.css';

/** For a user without a workspace: who they are, whom to ask, and the way out. */
export function NoWorkspacePage({ session }: { session: Session }) {
  const { refetch, isFetching } = useSession();
  const signOut = useSignOut();
  const { user, organisation } = session;
  return (
    <main className={styles.page}>
      <Brand />
      <EmptyState
        title={words.shell.noWorkspace}
        text={words.shell.noWorkspaceText(user.email, organisation.name)}
      >
        <Button variant="filled" loading={isFetching} onClick={() => void refetch()}>
          {words.shell.checkAgain}
        </Button>
        <Button onClick={() => void signOut()}>{words.shell.signOut}</Button>
      </EmptyState>
    </main>
  );
}
