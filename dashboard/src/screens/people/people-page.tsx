import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { IconUsers } from '@tabler/icons-react';
import { type ReactNode, useMemo, useState } from 'react';
import { useList } from '../../api/lists';
import { peopleQuery, type Person } from '../../api/people';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { isNarrow } from '../../parts/table/is-narrow';
import { Moment, Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { peopleWords } from '../../words/people';
import { words } from '../../words/en';
import { InviteDialog } from './invite-dialog';
import { InvitesCard } from './invites-card';
import { nameOf, PersonMenu, PersonStatus } from './person';
import { type PersonAction, PersonDialog } from './person-dialog';

const texts = peopleWords;
const ROW_HEIGHT = 44;
/** With the action in the second line. */
const COMPACT_HEIGHT = 64;

const linkOfUser = ({ id }: Person, content: ReactNode) => (
  <Link to="/org/people/$id" params={{ id }} tabIndex={-1} data-row-link>
    {content}
  </Link>
);

/** The users of the organization, their roles, and open invites. */
export function PeoplePage({ onOpen }: { onOpen: (id: string) => void }) {
  const may = useMay();
  const { session } = usePlace();
  const list = useList(peopleQuery, 'organisation_users.list');
  const [isInviting, setInviting] = useState(false);
  const [open, setOpen] = useState<{ person: Person; action: PersonAction } | null>(null);
  const menuOf = useMemo(
    () => (person: Person) =>
      person.id === session.user.id ? null : (
        <PersonMenu person={person} onAct={(action) => setOpen({ person, action })} />
      ),
    [session.user.id],
  );
  const columns = useMemo(() => columnsOf(menuOf), [menuOf]);
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
        rows={list.rows}
        keyOf={({ id }) => id}
        state={list.state}
        onEnd={list.onEnd}
        rowHeight={isNarrow() ? COMPACT_HEIGHT : ROW_HEIGHT}
        onOpen={({ id }) => onOpen(id)}
        renderLink={linkOfUser}
        renderCompact={(person) => (
          <CompactRow
            title={nameOf(person) || person.email}
            end={<PersonStatus person={person} />}
            details={[person.email, words.roles[person.role] ?? person.role]}
            note={menuOf(person)}
          />
        )}
        empty={
          <EmptyState icon={<IconUsers size={20} aria-hidden />} title={texts.none} text={texts.noneText} />
        }
        footer={texts.count(list.total)}
      />
      {isInviting && <InviteDialog onClose={() => setInviting(false)} />}
      {open && <PersonDialog {...open} onClose={() => setOpen(null)} />}
    </Page>
  );
}

const columnsOf = (menuOf: (person: Person) => ReactNode): readonly Column<Person>[] => [
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
    cell: (person) => <PersonStatus person={person} />,
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
    cell: menuOf,
  },
];

function Workspaces({ person: { workspace_ids } }: { person: Person }) {
  const { session } = usePlace();
  const names = session.workspaces.filter(({ id }) => workspace_ids.includes(id)).map(({ name }) => name);
  return <Value isMuted>{names.join(', ')}</Value>;
}
