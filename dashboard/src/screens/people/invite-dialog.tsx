import { Button, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { shownError } from '../../api/load-state';
import { createInvite, PEOPLE, type WorkspaceRole } from '../../api/people';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { peopleWords } from '../../words/people';
import { words } from '../../words/en';
import { InviteLink } from './invite-link';
import dialog from '../../parts/overlay/dialog-form.module.css';

const texts = peopleWords.invite;

const choices = <Role extends string>(...roles: readonly Role[]) =>
  roles.map((value) => ({ value, label: words.roles[value] ?? value }));

/** Invites a user to the organization, and optionally to one workspace. */
export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { session, workspace } = usePlace();
  const queryClient = useQueryClient();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<'admin' | 'member'>('member');
  const [place, setPlace] = useState<string | null>(workspace.id);
  const [workspaceRole, setWorkspaceRole] = useState<WorkspaceRole>('member');
  const sending = useMutation({
    mutationFn: () =>
      createInvite({
        email,
        role,
        workspaces: place === null ? [] : [{ id: place, role: workspaceRole }],
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [PEOPLE] }),
  });
  return (
    <Dialog isDirty={email !== '' && !sending.data} onClose={onClose} title={texts.title}>
      {sending.data ? (
        <InviteLink link={sending.data.invite_link} onDone={onClose} />
      ) : (
        <form
          className={dialog.form}
          onSubmit={(event) => {
            event.preventDefault();
            sending.mutate();
          }}
        >
          <TextInput
            label={texts.email}
            type="email"
            required
            withAsterisk={false}
            data-autofocus
            value={email}
            onChange={({ currentTarget }) => setEmail(currentTarget.value)}
          />
          <Select
            label={texts.role}
            data={choices('admin', 'member')}
            value={role}
            onChange={(value) => setRole(value ?? 'member')}
          />
          <Select
            label={texts.workspace}
            placeholder={texts.noWorkspace}
            clearable
            searchable
            data={session.workspaces.map(({ id, name }) => ({ value: id, label: name }))}
            value={place}
            onChange={setPlace}
          />
          {place !== null && (
            <Select
              label={texts.workspaceRole}
              data={choices('admin', 'manager', 'member')}
              value={workspaceRole}
              onChange={(value) => setWorkspaceRole(value ?? 'member')}
            />
          )}
          {sending.isError && (
            <ErrorCard error={shownError(sending.error)} title={words.errors.actionTitle} />
          )}
          <div className={dialog.actions}>
            <Button onClick={onClose}>{words.parts.cancel}</Button>
            <Button type="submit" variant="filled" loading={sending.isPending}>
              {texts.submit}
            </Button>
          </div>
        </form>
      )}
    </Dialog>
  );
}
