import { Button, Checkbox } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useId } from 'react';
import {
  createIdentityProvider,
  IDENTITY_PROVIDERS,
  type IdentityProvider,
  reservedProviderQuery,
  updateIdentityProvider,
} from '../../api/identity-providers';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { useFields } from '../../parts/overlay/use-fields';
import { shownError } from '../../api/load-state';
import { ErrorCard } from '../../parts/states/states';
import { identityProviderWords } from '../../words/identity-providers';
import { words } from '../../words/en';
import { ConnectionFields } from './connection-fields';
import styles from './identity-providers.module.css';
import { MappingFields } from './mapping-fields';
import { ProviderAddresses } from './provider-addresses';
import { changeOf, EMPTY, type Form, formOf, isWhole, newBody } from './provider-form';
import { TrialPanel } from './trial-panel';

const texts = identityProviderWords.dialog;

interface IdentityProviderDialogProps {
  /** The provider being changed; null for a new one. */
  readonly provider: IdentityProvider | null;
  readonly onClose: () => void;
}

/** Adds or changes an identity provider. A test sign-in shows its claims before it is saved. */
export function IdentityProviderDialog({ provider, onClose }: IdentityProviderDialogProps) {
  const queryClient = useQueryClient();
  const reserved = useQuery({ ...reservedProviderQuery(useId()), enabled: provider === null });
  const reservedId = reserved.data?.reserved_identity_provider_id;
  const [form, setForm, isDirty] = useFields<Form>(() => (provider ? formOf(provider) : EMPTY));
  const saving = useMutation({
    mutationFn: () =>
      provider
        ? updateIdentityProvider(provider.id, changeOf(form))
        : createIdentityProvider(newBody(form, reservedId)),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: [IDENTITY_PROVIDERS] });
      onClose();
    },
  });
  const canSave = isWhole(form, provider);
  return (
    <Dialog
      isDirty={isDirty}
      onClose={onClose}
      title={provider ? texts.editTitle(provider.name) : texts.title}
      size={680}
    >
      <form
        className={styles.form}
        autoComplete="off"
        onSubmit={(event) => {
          event.preventDefault();
          if (canSave) saving.mutate();
        }}
      >
        <ProviderAddresses of={provider ?? reserved.data} />
        <ConnectionFields form={form} provider={provider} onChange={setForm} />
        <MappingFields form={form} onChange={setForm} />
        <Choices form={form} onChange={setForm} />
        <TrialPanel form={form} provider={provider} reservedId={reservedId} />
        {saving.isError && <ErrorCard error={shownError(saving.error)} title={words.errors.actionTitle} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={!canSave} loading={saving.isPending}>
            {provider ? texts.save : texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

function Choices({ form, onChange }: { form: Form; onChange: (form: Form) => void }) {
  return (
    <div className={styles.choices}>
      <Checkbox
        label={texts.createUsers}
        checked={form.createsUsers}
        onChange={() => onChange({ ...form, createsUsers: !form.createsUsers })}
      />
      <Checkbox
        label={texts.follow}
        description={texts.followHelp}
        checked={form.rolesFollow}
        onChange={() => onChange({ ...form, rolesFollow: !form.rolesFollow })}
      />
      <Checkbox
        label={texts.enabled}
        checked={form.isEnabled}
        onChange={() => onChange({ ...form, isEnabled: !form.isEnabled })}
      />
    </div>
  );
}
