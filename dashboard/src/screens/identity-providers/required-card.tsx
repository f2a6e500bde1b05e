import { Button, Checkbox, MultiSelect } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { useFields } from '../../parts/overlay/use-fields';
import { IDENTITY_PROVIDERS, saveSignInSettings, signInSettingsQuery } from '../../api/identity-providers';
import { shownError } from '../../api/load-state';
import { useList } from '../../api/lists';
import { ownersQuery } from '../../api/people';
import { ErrorCard } from '../../parts/states/states';
import { StatusPill } from '../../parts/values/values';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import { OwnersOnly } from './owners-only';
import dialog from '../../parts/overlay/dialog-form.module.css';
import styles from './identity-providers.module.css';

const texts = identityProviderWords.required;

/** Whether users must sign in with an identity provider, and who is exempt. */
export function RequiredCard() {
  const { data, error, refetch } = useQuery(signInSettingsQuery);
  const [isChanging, setChanging] = useState(false);
  if (error && !data) return <ErrorCard error={shownError(error)} onRetry={() => void refetch()} />;
  if (!data) return null;
  const { single_sign_on_required: isRequired, break_glass_user_ids: ids } = data;
  return (
    <section className={styles.card} aria-label={texts.section}>
      <div>
        <h2>
          {texts.section}{' '}
          <StatusPill tone={isRequired ? 'success' : 'neutral'}>
            {isRequired ? identityProviderWords.enabled : identityProviderWords.disabled}
          </StatusPill>
        </h2>
        <p>{isRequired ? `${texts.on} ${texts.breakGlass(ids.length)}` : texts.off}</p>
      </div>
      <OwnersOnly>
        <Button onClick={() => setChanging(true)}>{texts.change}</Button>
      </OwnersOnly>
      {isChanging && (
        <RequiredDialog isRequired={isRequired} owners={ids} onClose={() => setChanging(false)} />
      )}
    </section>
  );
}

interface RequiredDialogProps {
  readonly isRequired: boolean;
  /** Ids of the break-glass owners. */
  readonly owners: readonly string[];
  readonly onClose: () => void;
}

function RequiredDialog({ isRequired, owners, onClose }: RequiredDialogProps) {
  const queryClient = useQueryClient();
  const people = useList(ownersQuery, 'organisation_users.list');
  const [form, setForm, isDirty] = useFields(() => ({ isRequired, owners: [...owners] }));
  const saving = useMutation({
    mutationFn: () => saveSignInSettings(form.isRequired, form.owners),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [IDENTITY_PROVIDERS] });
      onClose();
    },
  });
  const known = people.rows.filter(({ role, status }) => role === 'owner' && status === 'active');
  const error = saving.error ?? people.error;
  return (
    <Dialog isDirty={isDirty} onClose={onClose} title={texts.title}>
      <form
        className={dialog.form}
        onSubmit={(event) => {
          event.preventDefault();
          saving.mutate();
        }}
      >
        <p className={dialog.text}>{texts.text}</p>
        <Checkbox
          label={texts.require}
          checked={form.isRequired}
          onChange={() => setForm({ ...form, isRequired: !form.isRequired })}
        />
        <MultiSelect
          label={texts.owners}
          description={texts.ownersHelp}
          size="sm"
          data={known.map(({ id, email }) => ({ value: id, label: email }))}
          value={form.owners}
          searchable
          withScrollArea={false}
          nothingFoundMessage={texts.noOwners}
          classNames={{ options: styles.options }}
          onChange={(ids) => setForm({ ...form, owners: ids })}
        />
        {error && <ErrorCard error={shownError(error)} title={words.errors.actionTitle} />}
        <div className={dialog.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" loading={saving.isPending}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
