import { ActionIcon, Button, Menu } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconDots, IconUsersGroup } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { useList } from '../../api/lists';
import { shownError } from '../../api/load-state';
import {
  changeMember,
  type Member,
  membersQuery,
  PEOPLE,
  removeMember,
  type WorkspaceRole,
} from '../../api/people';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { Page } from '../../parts/shell/page';
import { Can } from '../../parts/states/can';
import { EmptyState, ErrorCard } from '../../parts/states/states';
import { CompactRow } from '../../parts/table/compact-row';
import { type Column, DataTable } from '../../parts/table/data-table';
import { isNarrow } from '../../parts/table/is-narrow';
import { Value } from '../../parts/values/values';
import { useMay, usePlace } from '../../session/session';
import { memberWords, peopleWords } from '../../words/people';
import { words } from '../../words/en';
import { AddMemberDialog } from './add-member-dialog';

const texts = memberWords;
const ROLES: readonly WorkspaceRole[] = ['admin', 'manager', 'member'];
const ROW_HEIGHT = 44;
/** With the action in the second line. */
const COMPACT_HEIGHT = 64;

const nameOf = ({ first_name, last_name }: Member): string =>
  [first_name, last_name].filter(Boolean).join(' ');
const labelOf = (role: string): string => words.roles[role] ?? role;

interface Actions {
  readonly onRole: (member: Member, role: WorkspaceRole) => void;
  readonly onRemove: (member: Member) => void;
}

/** The members of a workspace. */
export function MembersPage() {
  const { workspace } = usePlace();
  const may = useMay();
  const queryClient = useQueryClient();
  const list = useList(membersQuery(workspace.id), 'workspace_users.list');
  const [isAdding, setAdding] = useState(false);
  const [removed, setRemoved] = useState<Member | null>(null);
  const { mutate: changeRole, error } = useMutation({
    mutationFn: ({ member, role }: { member: Member; role: WorkspaceRole }) => changeMember(member, role),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [PEOPLE] }),
  });
  const actions = useMemo<Actions>(
    () => ({ onRole: (member, role) => changeRole({ member, role }), onRemove: setRemoved }),
    [changeRole],
  );
  const columns = useMemo(() => columnsOf(actions), [actions]);
  const action = (
    <Can isAllowed={may('workspace_users.create')} scope="workspace_users.create">
      <Button variant="filled" onClick={() => setAdding(true)}>
        {texts.add}
      </Button>
    </Can>
  );
  return (
    <Page title={texts.title} text={texts.text} isTable action={action}>
      {error && <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />}
      <DataTable<Member>
        label={texts.table}
        columns={columns}
        rows={list.rows}
        keyOf={({ id }) => id}
        state={list.state}
        onEnd={list.onEnd}
        rowHeight={isNarrow() ? COMPACT_HEIGHT : ROW_HEIGHT}
        renderCompact={(member) => (
          <CompactRow
            title={nameOf(member) || member.email}
            details={[member.email, labelOf(member.role)]}
            note={<MemberMenu member={member} actions={actions} />}
          />
        )}
        empty={
          <EmptyState
            icon={<IconUsersGroup size={20} aria-hidden />}
            title={texts.none}
            text={texts.noneText}
          />
        }
        footer={texts.count(list.total)}
      />
      {isAdding && <AddMemberDialog onClose={() => setAdding(false)} />}
      {removed && <RemoveDialog member={removed} onClose={() => setRemoved(null)} />}
    </Page>
  );
}

function RemoveDialog({ member, onClose }: { member: Member; onClose: () => void }) {
  const queryClient = useQueryClient();
  const removal = useMutation({
    mutationFn: () => removeMember(member),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [PEOPLE] });
      onClose();
    },
  });
  return (
    <ConfirmByName
      title={texts.removeTitle(member.email)}
      text={texts.removeText}
      name={member.email}
      action={texts.remove}
      isRunning={removal.isPending}
      error={removal.isError ? shownError(removal.error) : null}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    />
  );
}

const columnsOf = (actions: Actions): readonly Column<Member>[] => [
  {
    key: 'name',
    title: texts.columns.name,
    width: 'minmax(120px, 1fr)',
    cell: (member) => <Value>{nameOf(member)}</Value>,
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
    width: '110px',
    cell: ({ role }) => <Value>{labelOf(role)}</Value>,
  },
  {
    key: 'org',
    title: texts.columns.org,
    width: '140px',
    cell: ({ org_role }) => <Value isMuted>{labelOf(org_role)}</Value>,
  },
  {
    key: 'status',
    title: texts.columns.status,
    width: '110px',
    cell: ({ status }) => <Value isMuted>{peopleWords.status[status] ?? status}</Value>,
  },
  {
    key: 'actions',
    title: '',
    width: '32px',
    align: 'end',
    cell: (member) => <MemberMenu member={member} actions={actions} />,
  },
];

function MemberMenu({ member, actions }: { member: Member; actions: Actions }) {
  const may = useMay();
  return (
    <Menu position="bottom-end" width={200}>
      <Menu.Target>
        <ActionIcon aria-label={`${words.parts.moreActions}: ${member.email}`}>
          <IconDots size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {ROLES.filter((role) => role !== member.role).map((role) => (
          <Menu.Item
            key={role}
            disabled={!may('workspace_users.update')}
            onClick={() => actions.onRole(member, role)}
          >
            {texts.makeRole(role)}
          </Menu.Item>
        ))}
        <Menu.Item
          color="red"
          disabled={!may('workspace_users.delete')}
          onClick={() => actions.onRemove(member)}
        >
          {texts.remove}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
