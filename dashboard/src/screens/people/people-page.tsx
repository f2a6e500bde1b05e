import { ActionIcon, Button, Menu } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { IconDots, IconUsers } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { loadStateOf } from '../../api/load-state';
import { PAGE_SIZE, peopleQuery, type Person } from '../../api/people';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { Moment, StatusPill, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { peopleWords } from '../../words/people';
import { words } from '../../words/en';
import { InviteDialog } from './invite-dialog';
import { InvitesCard } from './invites-card';
import { type PersonAction, PersonDialog } from './person-dialog';

const texts = peopleWords;
const ROW_HEIGHT = 44;

type OnAct = (person: Person, action: PersonAction) => void;
const nameOf = ({ first_name, last_name }: Person): string =>
  [first_name, last_name].filter(Boolean).join(' ');

/** The people of the organization, what they may do, and who is invited. */
export function PeoplePage() {
  const may = useMay();
  const { session } = usePlace();
  const query = useQuery(peopleQuery);
  const [isInviting, setInviting] = useState(false);
  const [open, setOpen] = useState<{ person: Person; action: PersonAction } | null>(null);
  const columns = useMemo(
    () => columnsOf(session.user.id, (person, action) => setOpen({ person, action })),
    [session.user.id],
  );
  const total = query.data?.total ?? 0;
  const action = (
    <Can isAllowed={may('organisation_users.create')} scope="organisation_users.create">
      <Button variant="filled" onClick={() => setInviting(true)}>
        {texts.invite.create}
      </Button>
    </Can>
  );
  return (
    <Page title={texts.title} text={texts.text} isTable action={action}>
      {may('organisation_users.list') && <InvitesCard />}
      <DataTable<Person>
        label={texts.table}
        columns={columns}
        rows={query.data?.data ?? []}
        keyOf={({ id }) => id}
        state={loadStateOf(query, 'organisation_users.list')}
        rowHeight={ROW_HEIGHT}
        renderCompact={(person) => (
          <CompactRow
            title={nameOf(person) || person.email}
            end={<Status person={person} />}
            details={[person.email, words.roles[person.role] ?? person.role]}
          />
        )}
        empty={
          <EmptyState icon={<IconUsers size={20} aria-hidden />} title={texts.none} text={texts.noneText} />
        }
        footer={
          <>
            {texts.count(total)} {total > PAGE_SIZE && texts.more(PAGE_SIZE)}
          </>
        }
      />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {open && <PersonDialog {...open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

function Status({ person: { status } }: { person: Person }) {
  return (
    <StatusPill tone={status === 'active' ? 'success' : 'neutral'}>
      {texts.status[status] ?? status}
    </StatusPill>
  );
}

const columnsOf = (self: string, onAct: OnAct): readonly Column<Person>[] => [
  {
    key: 'name',
    title: texts.columns.name,
    width: 'minmax(120px, 1fr)',
    cell: (person) => <Value>{nameOf(person)}</Value>,
  },
  {
    key: 'email',
    title: texts.columns.email,
    width: 'minmax(160px, 1.4fr)',
    cell: ({ email }) => <Value>{email}</Value>,
  },
  {
    key: 'role',
    title: texts.columns.role,
    width: '90px',
    cell: ({ role }) => <Value isMuted>{words.roles[role] ?? role}</Value>,
  },
  {
    key: 'workspaces',
    title: texts.columns.workspaces,
    width: 'minmax(100px, 1fr)',
    cell: (person) => <Workspaces person={person} />,
  },
  {
    key: 'status',
    title: texts.columns.status,
    width: '110px',
    cell: (person) => <Status person={person} />,
  },
  {
    key: 'since',
    title: texts.columns.since,
    width: '110px',
    cell: ({ created_at }) => <Moment at={created_at} as="date" />,
  },
  {
    key: 'actions',
    title: '',
    width: '32px',
    align: 'end',
    cell: (person) => (person.id === self ? null : <PersonMenu person={person} onAct={onAct} />),
  },
];

function Workspaces({ person: { workspace_ids } }: { person: Person }) {
  const { session } = usePlace();
  const names = session.workspaces.filter(({ id }) => workspace_ids.includes(id)).map(({ name }) => name);
  return <Value isMuted>{names.join(', ')}</Value>;
}

/** Nobody acts on themselves here, and on an owner the server has the last word. */
function PersonMenu({ person, onAct }: { person: Person; onAct: OnAct }) {
  const may = useMay();
  const isLocked = !may('organisation_users.update');
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
            <Menu.Item key={role} disabled={isLocked} onClick={() => onAct(person, role)}>
              {texts.makeRole(role)}
            </Menu.Item>
          ))}
        <Menu.Item
          disabled={isLocked}
          onClick={() => onAct(person, person.status === 'active' ? 'deactivate' : 'reactivate')}
        >
          {person.status === 'active' ? texts.deactivate : texts.reactivate}
        </Menu.Item>
        <Menu.Item
          color="red"
          disabled={!may('organisation_users.delete')}
          onClick={() => onAct(person, 'remove')}
        >
          {texts.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
