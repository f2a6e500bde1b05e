import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { useList } from '../../api/lists';
import { shownError } from '../../api/load-state';
import { type Invite, invitesQuery, PEOPLE, resendInvite, revokeInvite } from '../../api/people';
import { ErrorCard } from '../../parts/states/states';
import { Moment } from '../../parts/values/values';
import { useMay } from '../../session/session';
import { peopleWords } from '../../words/people';
import { words } from '../../words/en';
import { InviteLink } from './invite-link';
import styles from './people.module.css';

const texts = peopleWords.invite;

/** Open invites. Resending creates a new link and invalidates the old one. */
export function InvitesCard() {
  const queryClient = useQueryClient();
  const { rows, total, error, onEnd } = useList(invitesQuery, 'organisation_users.list');
  const onSuccess = () => queryClient.invalidateQueries({ queryKey: [PEOPLE, 'invites'] });
  const resend = useMutation({ mutationFn: resendInvite, onSuccess });
  const revoke = useMutation({ mutationFn: revokeInvite, onSuccess });
  const failed = resend.error ?? revoke.error ?? error;
  if (!failed && rows.length === 0) return null;
  return (
    <section className={styles.invites} aria-label={texts.section}>
      <h2>{texts.section}</h2>
      {failed && <ErrorCard error={shownError(failed)} title={words.errors.actionTitle} />}
      <ul>
        {rows.map((invite) => (
          <InviteRow key={invite.id} invite={invite} onResend={resend.mutate} onRevoke={revoke.mutate} />
        ))}
      </ul>
      {rows.length < total && (
        <Button disabled={!onEnd} onClick={onEnd}>
          {words.parts.showMore(rows.length, total)}
        </Button>
      )}
      {resend.data && (
        <Dialog onClose={resend.reset} title={texts.resend} withCloseButton={false}>
          <InviteLink link={resend.data.inviteLink} onDone={resend.reset} />
        </Dialog>
      )}
    </section>
  );
}

interface InviteRowProps {
  readonly invite: Invite;
  readonly onResend: (id: string) => void;
  readonly onRevoke: (id: string) => void;
}

function InviteRow({ invite: { id, email, role, expires_at }, onResend, onRevoke }: InviteRowProps) {
  const may = useMay();
  return (
    <li>
      <span>
        {email}, {words.roles[role] ?? role}, {texts.expires} <Moment at={expires_at} as="date" />
      </span>
      <span>
        <Button
          aria-label={`${texts.resend}: ${email}`}
          disabled={!may('organisation_users.create')}
          onClick={() => onResend(id)}
        >
          {texts.resend}
        </Button>{' '}
        <Button
          aria-label={`${texts.revoke}: ${email}`}
          disabled={!may('organisation_users.delete')}
          onClick={() => onRevoke(id)}
        >
          {texts.revoke}
        </Button>
      </span>
    </li>
  );
}
