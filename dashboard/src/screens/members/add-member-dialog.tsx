import { Button, Select, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { useWholeList } from '../../api/lists';
import { shownError } from '../../api/load-state';
import { addMember, PEOPLE, peopleQuery, type WorkspaceRole } from '../../api/people';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { memberWords } from '../../words/people';
import { words } from '../../words/en';
import styles from './add-member-dialog.module.css';

const texts = memberWords;
const ROLES: readonly WorkspaceRole[] = ['admin', 'manager', 'member'];

/** Adds a user of the organization. Users who may not list its users enter an id. */
export function AddMemberDialog({ onClose }: { onClose: () => void }) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const people = useWholeList(peopleQuery, 'organisation_users.list');
  const [person, setPerson] = useState<string | null>(null);
  const [role, setRole] = useState<WorkspaceRole>('member');
  const adding = useMutation({
    mutationFn: (id: string) => addMember(workspace.id, { id, role }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [PEOPLE] });
      onClose();
    },
  });
  return (
    <Dialog isDirty={person !== null || role !== 'member'} onClose={onClose} title={texts.addTitle}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (person) adding.mutate(person);
        }}
      >
        {people.error ? (
          <TextInput
            label={texts.personId}
            value={person ?? ''}
            data-autofocus
            onChange={({ currentTarget }) => setPerson(currentTarget.value.trim())}
          />
        ) : (
          <Select
            label={texts.person}
            searchable
            data-autofocus
            data={people.rows
              .filter(({ workspace_ids }) => !workspace_ids.includes(workspace.id))
              .map(({ id, email }) => ({ value: id, label: email }))}
            value={person}
            onChange={setPerson}
          />
        )}
        <Select
          label={texts.role}
          data={ROLES.map((value) => ({ value, label: words.roles[value] ?? value }))}
          value={role}
          onChange={(value) => setRole(value ?? 'member')}
        />
        {adding.isError && <ErrorCard error={shownError(adding.error)} title={words.errors.actionTitle} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={!person} loading={adding.isPending}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
