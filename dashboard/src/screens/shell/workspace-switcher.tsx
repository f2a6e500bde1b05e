import { Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { IconCheck, IconSelector } from '@tabler/icons-react';
import type { Session, SessionWorkspace } from '../../api/auth';
import { words } from '../../words/en';
import styles from './menus.module.css';

/** The current workspace, and links to the others. */
export function WorkspaceSwitcher({ session, workspace }: { session: Session; workspace: SessionWorkspace }) {
  const navigate = useNavigate();
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
            onClick={() =>
              void navigate({ to: '/w/$workspace/overview', params: { workspace: one.slug }, search: {} })
            }
          >
            {one.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
