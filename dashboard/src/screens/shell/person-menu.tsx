import { Menu } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { IconLogout, IconSettings, IconUser } from '@tabler/icons-react';
import { lazy, Suspense } from 'react';
import { usePlace, useSignOut } from '../../session/session';
import { words } from '../../words/en';
import styles from './menus.module.css';

/** Its selects are large, and most visits change nothing. */
const PersonSettings = lazy(() =>
  import('./person-settings').then((module) => ({ default: module.PersonSettings })),
);

/** The signed-in user, their display settings, and the sign-out. */
export function PersonMenu() {
  const { session, workspace } = usePlace();
  const signOut = useSignOut();
  const { email } = session.user;
  // Owners and admins of the organization act as admins in every workspace.
  const role = session.role === 'member' ? workspace.role : session.role;
  return (
    <Menu width={248} position="top-start" closeOnItemClick={false}>
      <Menu.Target>
        <button type="button" className={styles.person}>
          <span className={styles.initial} aria-hidden>
            {email.slice(0, 1).toUpperCase()}
          </span>
          <span className={styles.name}>
            <span className="visually-hidden">{words.shell.account} </span>
            {email}
            <span className={styles.role}>{words.roles[role] ?? role}</span>
          </span>
          <IconSettings size={16} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Suspense fallback={null}>
          <PersonSettings />
        </Suspense>
        <Menu.Divider />
        <Menu.Item
          component={Link}
          to="/account"
          closeMenuOnClick
          leftSection={<IconUser size={16} aria-hidden />}
        >
          {words.shell.accountPage}
        </Menu.Item>
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {words.shell.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
