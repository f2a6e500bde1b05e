import { Menu } from '@mantine/core';
import { Link, useLocation } from '@tanstack/react-router';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import type { Session, SessionWorkspace } from '../../api/auth';
import { words } from '../../words/en';
import { PAGES } from './navigation';
import styles from './menus.module.css';

const OVERVIEW = '/w/$workspace/overview';

/** The same page of another workspace. What it shows stays behind, but not its range. */
function useSamePage(workspace: SessionWorkspace) {
  const { pathname, search } = useLocation();
  const page = PAGES.find(({ to }) => pathname.startsWith(to.replace('$workspace', workspace.slug)));
  const isOfWorkspace = page?.to.startsWith('/w/') ?? false;
  return { to: isOfWorkspace && page ? page.to : OVERVIEW, search: { range: search.range } };
}

/** The current workspace, and links to the others. */
export function WorkspaceSwitcher({ session, workspace }: { session: Session; workspace: SessionWorkspace }) {
  const samePage = useSamePage(workspace);
  return (
    <Menu width={232} position="bottom-start">
      <Menu.Target>
        <button type="button" className={styles.switcher}>
          <span className={styles.initial} aria-hidden>
            {workspace.name.slice(0, 1).toUpperCase()}
          </span>
          <span className={styles.name}>
            <span className="visually-hidden">{words.shell.switchWorkspace}: </span>
            {workspace.name}
          </span>
          <IconSelector size={14} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{words.shell.workspace}</Menu.Label>
        {session.workspaces.map((one) => (
          <Menu.Item
            key={one.id}
            rightSection={one.id === workspace.id ? <IconCheck size={14} /> : null}
            renderRoot={(props) => <Link {...props} {...samePage} params={{ workspace: one.slug }} />}
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
