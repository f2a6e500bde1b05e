import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { shownError } from '../../api/load-state';
import { changePerson, PEOPLE, type Person, type PersonChange, removePerson } from '../../api/people';
import { personQuery } from '../../api/person';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { ErrorCard } from '../../parts/states/states';
import { peopleWords } from '../../words/people';
import { words } from '../../words/en';
import dialog from '../../parts/overlay/dialog-form.module.css';

const texts = peopleWords;

export type PersonAction = 'admin' | 'member' | 'deactivate' | 'reactivate' | 'remove';

interface PersonDialogProps {
  readonly person: Person;
  readonly action: PersonAction;
  readonly onClose: () => void;
  /** Called instead of `onClose` when the user was removed. */
  readonly onRemoved?: () => void;
}

const CHANGES: Readonly<Record<Exclude<PersonAction, 'remove'>, PersonChange>> = {
  admin: { role: 'admin' },
  member: { role: 'member' },
  deactivate: { status: 'deactivated' },
  reactivate: { status: 'active' },
};

const changeOfRole = (role: 'admin' | 'member') => ({
  title: (email: string) => texts.changeRoleTitle(email, words.roles[role] ?? role),
  text: texts.changeRoleText,
  button: texts.changeRole,
});

/** The confirmation text of each change. */
const TEXTS = {
  admin: changeOfRole('admin'),
  member: changeOfRole('member'),
  deactivate: { title: texts.deactivateTitle, text: texts.deactivateText, button: texts.deactivate },
  reactivate: { title: () => texts.reactivate, text: '', button: texts.reactivate },
};

/** Explains the consequences of an action on a user, and performs it. */
export function PersonDialog({ person, action, onClose, onRemoved = onClose }: PersonDialogProps) {
  const queryClient = useQueryClient();
  const doing = useMutation({
    mutationFn: () => (action === 'remove' ? removePerson(person) : changePerson(person.id, CHANGES[action])),
    onSuccess: async () => {
      if (action === 'remove') {
        queryClient.removeQueries({ queryKey: personQuery(person.id).queryKey });
        onRemoved();
      }
      await queryClient.invalidateQueries({ queryKey: [PEOPLE] });
      if (action !== 'remove') onClose();
    },
  });
  const error = doing.isError ? shownError(doing.error) : null;
  if (action === 'remove')
    return (
      <ConfirmByName
        title={texts.removeTitle(person.email)}
        text={texts.removeText}
        name={person.email}
        action={texts.remove}
        isRunning={doing.isPending}
        error={error}
        onConfirm={() => doing.mutate()}
        onClose={onClose}
      />
    );
  const { title, text, button } = TEXTS[action];
  return (
    <Dialog onClose={onClose} title={title(person.email)}>
      <div className={dialog.form}>
        <p className={dialog.text}>{text || person.email}</p>
        {error && <ErrorCard error={error} title={words.errors.actionTitle} />}
        <div className={dialog.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button variant="filled" loading={doing.isPending} onClick={() => doing.mutate()}>
            {button}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
