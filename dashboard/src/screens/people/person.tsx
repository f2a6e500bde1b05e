import { ActionIcon, Menu } from '@mantine/core';
import { IconDots } from '@tabler/icons-react';
import type { Person } from '../../api/people';
import { StatusPill } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { peopleWords as texts } from '../../words/people';
import { words } from '../../words/en';
import type { PersonAction } from './person-dialog';

export const nameOf = ({ first_name, last_name }: Person): string =>
  [first_name, last_name].filter(Boolean).join(' ');

export function PersonStatus({ person: { status } }: { person: Person }) {
  return (
    <StatusPill tone={status === 'active' ? 'success' : 'neutral'}>
      {texts.status[status] ?? status}
    </StatusPill>
  );
}

/** Whether the signed-in user's rank lets them change this user. Owners change everyone, admins only members. */
export function useMayActOn({ id, role }: Person): boolean {
  const { session } = usePlace();
  return (
    session.role === 'owner' || session.user.id === id || (session.role === 'admin' && role === 'member')
  );
}

interface PersonMenuProps {
  readonly person: Person;
  readonly onAct: (action: PersonAction) => void;
}

/** The actions on a user. */
export function PersonMenu({ person, onAct }: PersonMenuProps) {
  const may = useMay();
  const mayAct = useMayActOn(person);
  const isLocked = !mayAct || !may('organisation_users.update');
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${person.email}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {(['admin', 'member'] as const)
          .filter((role) => role !== person.role)
          .map((role) => (
            <Menu.Item key={role} disabled={isLocked} onClick={() => onAct(role)}>
              {texts.makeRole(role)}
            </Menu.Item>
          ))}
        <Menu.Item
          disabled={isLocked}
          onClick={() => onAct(person.status === 'active' ? 'deactivate' : 'reactivate')}
        >
          {person.status === 'active' ? texts.deactivate : texts.reactivate}
        </Menu.Item>
        <Menu.Item
          color="red"
          disabled={!mayAct || !may('organisation_users.delete')}
          onClick={() => onAct('remove')}
        >
          {texts.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
