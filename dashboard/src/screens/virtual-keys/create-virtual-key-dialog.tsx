import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { createVirtualKey, type NewVirtualKey } from '../../api/keys';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { words } from '../../words/en';
import styles from './create-virtual-key-dialog.module.css';

const texts = words.virtualKeys.dialog;

interface Form {
  readonly provider: string;
  readonly name: string;
  readonly slug: string;
  readonly secret: string;
  readonly host: string;
  readonly budget: string;
}

const EMPTY: Form = { provider: '', name: '', slug: '', secret: '', host: '', budget: '' };

/** What a slug may look like, made of a name. */
const slugOf = (name: string): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');

const isAmount = (text: string): boolean => text === '' || Number(text) > 0;

const bodyOf = (form: Form, workspace: string): NewVirtualKey => ({
  name: form.name.trim(),
  slug: form.slug || slugOf(form.name),
  provider: form.provider.trim(),
  workspace_id: workspace,
  ...(form.secret && { key: form.secret }),
  ...(form.host && { custom_host: form.host.trim() }),
  ...(form.budget && {
    usage_limits: { credit_limit: Number(form.budget), type: 'cost', periodic_reset: 'monthly' },
  }),
});

/** Stores a provider's credential under a slug of the workspace. */
export function CreateVirtualKeyDialog({ onClose }: { onClose: () => void }) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const [form, setForm] = useState(EMPTY);
  const creation = useMutation({
    mutationFn: () => createVirtualKey(bodyOf(form, workspace.id)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['virtual-keys'] });
      onClose();
    },
  });
  const isWhole = form.provider.trim() !== '' && form.name.trim() !== '' && isAmount(form.budget);
  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.title}
      size={600}
      closeButtonProps={{ 'aria-label': words.parts.close }}
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isWhole) creation.mutate();
        }}
      >
        <p className={styles.intro}>{texts.text}</p>
        <Fields form={form} onChange={setForm} />
        {creation.isError && (
          <ErrorCard error={shownError(creation.error)} title={words.errors.actionTitle} />
        )}
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={!isWhole} loading={creation.isPending}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function Fields({ form, onChange }: { form: Form; onChange: (form: Form) => void }) {
  const field = (name: keyof Form) => ({
    value: form[name],
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) =>
      onChange({ ...form, [name]: currentTarget.value }),
  });
  return (
    <>
      <TextInput
        label={texts.provider}
        description={texts.providerHelp}
        data-autofocus
        autoComplete="off"
        spellCheck={false}
        {...field('provider')}
      />
      <div className={styles.pair}>
        <TextInput label={texts.name} maxLength={120} {...field('name')} />
        <TextInput label={texts.slug} placeholder={slugOf(form.name)} {...field('slug')} />
      </div>
      <p className={styles.help}>
        {texts.slugHelp(form.slug || slugOf(form.name) || texts.slug.toLowerCase())}
      </p>
      <PasswordInput label={texts.secret} autoComplete="off" {...field('secret')} />
      <div className={styles.pair}>
        <TextInput label={texts.host} description={texts.hostHelp} {...field('host')} />
        <TextInput
          label={texts.budget}
          description={texts.budgetHelp}
          inputMode="decimal"
          error={isAmount(form.budget) ? null : words.apiKeys.dialog.number}
          {...field('budget')}
        />
      </div>
    </>
  );
}
