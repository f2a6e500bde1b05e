import { Button, Tooltip } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../../api/use-mutation';
import { loadStateOf, shownError } from '../../../api/load-state';
import { PEOPLE, type Person } from '../../../api/people';
import { removeSecondFactors, signInMethodsQuery } from '../../../api/person';
import { ConfirmByName } from '../../../parts/overlay/confirm-by-name';
import { Section } from '../../../parts/shell/section';
import section from '../../../parts/shell/section.module.css';
import { Loadable } from '../../../parts/states/states';
import { usePlace } from '../../../session/session';
import { personWords } from '../../../words/person';

const texts = personWords.factors;

/** The user's sign-in methods, and the removal of a lost second factor. */
export function MethodsSection({ person }: { person: Person }) {
  const { session } = usePlace();
  const query = useQuery(signInMethodsQuery(person.id));
  const [isRemoving, setRemoving] = useState(false);
  const methods = query.data;
  const hasFactor = methods !== undefined && (methods.totp || methods.passkeys > 0);
  const isOwner = session.role === 'owner';
  const action = hasFactor && (
    <Tooltip label={texts.ownersOnly} disabled={isOwner}>
      <Button data-disabled={!isOwner || undefined} onClick={() => isOwner && setRemoving(true)}>
        {texts.reset}
      </Button>
    </Tooltip>
  );
  return (
    <Section title={texts.title} action={action}>
      <Loadable state={loadStateOf(query, 'organisation_users.read')} lines={3}>
        {() =>
          methods && (
            <dl className={section.facts}>
              <dt>{texts.password}</dt>
              <dd>{methods.password ? texts.set : texts.notSet}</dd>
              <dt>{texts.totp}</dt>
              <dd>{methods.totp ? texts.on : texts.off}</dd>
              {methods.totp && (
                <>
                  <dt>{texts.codes}</dt>
                  <dd>{methods.recovery_codes_left}</dd>
                </>
              )}
              <dt>{texts.passkeys}</dt>
              <dd>{methods.passkeys}</dd>
            </dl>
          )
        }
      </Loadable>
      {isRemoving && <RemoveDialog person={person} onClose={() => setRemoving(false)} />}
    </Section>
  );
}

function RemoveDialog({ person, onClose }: { person: Person; onClose: () => void }) {
  const queryClient = useQueryClient();
  const removal = useMutation({
    mutationFn: () => removeSecondFactors(person.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [PEOPLE] });
      onClose();
    },
  });
  return (
    <ConfirmByName
      title={texts.resetTitle(person.email)}
      text={texts.resetText}
      name={person.email}
      action={texts.reset}
      isRunning={removal.isPending}
      error={removal.error && shownError(removal.error)}
      onConfirm={() => removal.mutate()}
      onClose={onClose}
    />
  );
}
