import { Menu, SegmentedControl, Select, useMantineColorScheme } from '@mantine/core';
import { IconLogout, IconSettings } from '@tabler/icons-react';
import { usePlace, useSignOut } from '../../session/session';
import { browserTimeZone, useTimeZone } from '../../session/time-zone';
import { words } from '../../words/en';
import styles from './menus.module.css';

const ZONES = ['UTC', ...Intl.supportedValuesOf('timeZone')];

/** Who is signed in, what the page looks like for them, and the way out. */
export function PersonMenu() {
  const { session, workspace } = usePlace();
  const signOut = useSignOut();
  const { email } = session.user;
  const role = workspace.role || session.role;
  return (
    <Menu width={248} position="top-start" closeOnItemClick={false}>
      <Menu.Target>
        <button type="button" className={styles.person} aria-label={`${words.shell.account}: ${email}`}>
          <span className={styles.initial} aria-hidden>
            {email.slice(0, 1).toUpperCase()}
          </span>
          <span className={styles.name}>
            {email}
            <span className={styles.role}>{words.roles[role] ?? role}</span>
          </span>
          <IconSettings size={16} aria-hidden />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{words.shell.theme}</Menu.Label>
        <ThemeChoice />
        <Menu.Label>{words.shell.zone}</Menu.Label>
        <ZoneChoice />
        <Menu.Divider />
        <Menu.Item leftSection={<IconLogout size={16} aria-hidden />} onClick={() => void signOut()}>
          {words.shell.signOut}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}

function ThemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      size="xs"
      fullWidth
      aria-label={words.shell.theme}
      value={colorScheme}
      data={(['light', 'dark', 'auto'] as const).map((value) => ({
        value,
        label: words.shell.themes[value],
      }))}
      onChange={(value) => setColorScheme(value)}
    />
  );
}

function ZoneChoice() {
  const [zone, setZone] = useTimeZone();
  const zones = ZONES.includes(zone) ? ZONES : [zone, ...ZONES];
  return (
    <Select
      size="xs"
      aria-label={words.shell.zone}
      data={[...new Set([browserTimeZone(), ...zones])]}
      value={zone}
      searchable
      limit={50}
      comboboxProps={{ withinPortal: false }}
      onChange={(next) => next && setZone(next)}
    />
  );
}
