import { Button, Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../../api/use-mutation';
import { shownError } from '../../../api/load-state';
import {
  changeMember,
  type Membership,
  PEOPLE,
  type Person,
  removeMember,
  type WorkspaceRole,
} from '../../../api/people';
import { ConfirmByName } from '../../../parts/overlay/confirm-by-name';
import { Section } from '../../../parts/shell/section';
import section from '../../../parts/shell/section.module.css';
import { useMay, usePlace } from '../../../session/session';
import { personWords } from '../../../words/person';
import { words } from '../../../words/en';

const texts = personWords.workspaces;
const ROLES = (['admin', 'manager', 'member'] as const).map((value) => ({
  value,
  label: words.roles[value] ?? value,
}));

const membershipOf = (person: Person, workspaceId: string): Membership => ({
  workspace_id: workspaceId,
  id: person.id,
});

/** The user's workspaces, with the role in each. */
export function WorkspacesSection({ person }: { person: Person }) {
  const may = useMay();
  const nameOf = useWorkspaceName();
  const queryClient = useQueryClient();
  const [removed, setRemoved] = useState<string | null>(null);
  const change = useMutation({
    mutationFn: ({ id, role }: { id: string; role: WorkspaceRole }) =>
      changeMember(membershipOf(person, id), role),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [PEOPLE] }),
  });
  return (
    <Section
      title={texts.title}
      text={person.role === 'member' ? texts.text : texts.everywhere}
      error={change.error && shownError(change.error)}
    >
      <ul className={section.list}>
        {person.workspaces.length === 0 && <li>{texts.none}</li>}
        {person.workspaces.map(({ id, role }) => (
          <li key={id}>
            <strong>{nameOf(id)}</strong>
            <span className={section.actions}>
              <Select
                aria-label={texts.roleIn(nameOf(id))}
                w={120}
                data={ROLES}
                value={role}
                allowDeselect={false}
                disabled={!may('workspace_users.update') || change.isPending}
                onChange={(next) => next && change.mutate({ id, role: next })}
              />
              <Button
                color="red"
                disabled={!may('workspace_users.delete')}
                aria-label={`${texts.remove}: ${nameOf(id)}`}
                onClick={() => setRemoved(id)}
              >
                {texts.removeShort}
              </Button>
            </span>
          </li>
        ))}
      </ul>
      {removed && <RemoveDialog person={person} workspaceId={removed} onClose={() => setRemoved(null)} />}
    </Section>
  );
}

/** Names come with the session; workspaces beyond its first thousand are shown by id. */
function useWorkspaceName(): (id: string) => string {
  const { session } = usePlace();
  return (id) => session.workspaces.find((workspace) => workspace.id === id)?.name ?? id;
}

interface RemoveDialogProps {
  readonly person: Person;
  readonly workspaceId: string;
  readonly onClose: () => void;
}

function RemoveDialog({ person, workspaceId, onClose }: RemoveDialogProps) {
  const nameOf = useWorkspaceName();
  const queryClient = useQueryClient();
  const removal = useMutation({
    mutationFn: () => removeMember(membershipOf(person, workspaceId)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [PEOPLE] });
      onClose();
    },
  });
  return (
    <ConfirmByName
      title={texts.removeTitle(person.email, nameOf(workspaceId))}
      text={texts.removeText}
      name={person.email}
      action={texts.remove}
      isRunning={removal.isPending}
      error={removal.error && shownError(removal.error)}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    />
  );
}
