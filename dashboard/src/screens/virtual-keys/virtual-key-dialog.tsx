import { Button, Select, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { useFields } from '../../parts/overlay/use-fields';
import { shownError } from '../../api/load-state';
import {
  type CatalogProvider,
  catalogQuery,
  createVirtualKey,
  updateVirtualKey,
  type VirtualKey,
} from '../../api/virtual-keys';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { virtualKeyWords } from '../../words/virtual-keys';
import { words } from '../../words/en';
import { AccountFields } from './account-fields';
import { CredentialTestPanel } from './credential-test-panel';
import { LimitFields } from './limit-fields';
import { ProviderSelect } from './provider-select';
import styles from './virtual-key-dialog.module.css';
import {
  changeOf,
  EMPTY,
  type Form,
  formOf,
  hasPlainLimits,
  isWhole,
  needsSecretAgain,
  newBody,
  slugOf,
  type UnsupportedRule,
} from './virtual-key-form';

const texts = virtualKeyWords.dialog;

interface VirtualKeyDialogProps {
  /** The key being changed; null for a new one. */
  readonly virtualKey: VirtualKey | null;
  readonly onClose: () => void;
}

/** Stores a provider's credential under a slug, or changes one. Shows only the fields of the chosen provider. */
export function VirtualKeyDialog({ virtualKey, onClose }: VirtualKeyDialogProps) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const catalog = useQuery(catalogQuery);
  const [form, setForm, isDirty] = useFields<Form>(() => (virtualKey ? formOf(virtualKey) : EMPTY));
  const provider = catalog.data?.find(({ id }) => id === form.provider);
  const isStored = virtualKey !== null && !needsSecretAgain(form, virtualKey);
  const saving = useMutation({
    mutationFn: async ({ chosen }: { chosen: CatalogProvider }) => {
      if (virtualKey) await updateVirtualKey(virtualKey.slug, changeOf(form, virtualKey, chosen));
      else await createVirtualKey(newBody(form, chosen, workspace.id));
    },
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['virtual-keys'] });
      onClose();
    },
  });
  const canSave = isWhole(form, provider, isStored);
  return (
    <Dialog
      isDirty={isDirty}
      onClose={onClose}
      title={virtualKey ? texts.editTitle(virtualKey.slug) : texts.title}
      size={600}
    >
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (provider && canSave) saving.mutate({ chosen: provider });
        }}
      >
        <p className={styles.intro}>{virtualKey ? texts.editText : texts.text}</p>
        <ProviderSelect
          providers={catalog.data ?? []}
          value={form.provider}
          isFixed={virtualKey !== null}
          onChange={(id) => setForm({ ...form, provider: id })}
        />
        <Names form={form} isStored={virtualKey !== null} onChange={setForm} />
        {provider && (
          <>
            <AccountFields form={form} provider={provider} isStored={isStored} onChange={setForm} />
            <CredentialTestPanel form={form} provider={provider} virtualKey={virtualKey} />
          </>
        )}
        <UnsupportedSelect
          value={form.unsupported}
          onChange={(unsupported) => setForm({ ...form, unsupported })}
        />
        <LimitFields
          form={form}
          isEditable={virtualKey === null || hasPlainLimits(virtualKey)}
          onChange={setForm}
        />
        {catalog.isError && <ErrorCard error={shownError(catalog.error)} />}
        {saving.isError && <ErrorCard error={shownError(saving.error)} title={words.errors.actionTitle} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={!canSave} loading={saving.isPending}>
            {virtualKey ? texts.save : texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface UnsupportedSelectProps {
  readonly value: UnsupportedRule;
  readonly onChange: (rule: UnsupportedRule) => void;
}

function UnsupportedSelect({ value, onChange }: UnsupportedSelectProps) {
  return (
    <Select
      label={texts.unsupported}
      description={texts.unsupportedHelp}
      data={Object.entries(texts.unsupportedRules).map(([rule, label]) => ({ value: rule, label }))}
      value={value}
      allowDeselect={false}
      onChange={(rule) => onChange((rule ?? 'refuse') as UnsupportedRule)}
    />
  );
}

interface NamesProps {
  readonly form: Form;
  readonly isStored: boolean;
  readonly onChange: (form: Form) => void;
}

function Names({ form, isStored, onChange }: NamesProps) {
  const slug = form.slug || slugOf(form.name) || texts.slug.toLowerCase();
  return (
    <div className={styles.pair}>
      <TextInput
        label={texts.name}
        maxLength={120}
        value={form.name}
        onChange={({ currentTarget }) => onChange({ ...form, name: currentTarget.value })}
      />
      <TextInput
        label={texts.slug}
        placeholder={slugOf(form.name)}
        value={form.slug}
        disabled={isStored}
        inputWrapperOrder={['label', 'input', 'description']}
        description={texts.slugHelp(slug)}
        onChange={({ currentTarget }) => onChange({ ...form, slug: currentTarget.value.trim() })}
      />
    </div>
  );
}
