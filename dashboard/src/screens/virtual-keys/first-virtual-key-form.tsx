import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { createVirtualKey } from '../../api/virtual-keys';
import { shownError } from '../../api/load-state';
import { type CatalogProvider, catalogQuery } from '../../api/virtual-keys';
import { ErrorCard } from '../../parts/states/states';
import { usePlace } from '../../session/session';
import { setUpWords } from '../../words/set-up';
import { words } from '../../words/en';
import { AccountFields } from './account-fields';
import { CredentialTestPanel } from './credential-test-panel';
import { ProviderSelect } from './provider-select';
import { EMPTY, type Form, isWhole, newBody } from './virtual-key-form';
import styles from './virtual-key-dialog.module.css';

/** The first virtual key of an installation: only its credential, which can be tested before it is stored, and skipped. */
export function FirstVirtualKeyForm({ onDone }: { onDone: () => void }) {
  const { workspace } = usePlace();
  const catalog = useQuery(catalogQuery);
  const [form, setForm] = useState<Form>(EMPTY);
  const provider = catalog.data?.find(({ id }) => id === form.provider);
  const creation = useMutation({
    mutationFn: ({ chosen }: { chosen: CatalogProvider }) =>
      createVirtualKey(newBody({ ...form, name: chosen.id }, chosen, workspace.id)),
    onSuccess: onDone,
  });
  const canSave = isWhole({ ...form, name: form.provider }, provider, false);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (provider && canSave) creation.mutate({ chosen: provider });
      }}
    >
      <ProviderSelect
        providers={catalog.data ?? []}
        value={form.provider}
        isFixed={false}
        onChange={(id) => setForm({ ...form, provider: id })}
      />
      {provider && (
        <>
          <AccountFields form={form} provider={provider} isStored={false} onChange={setForm} />
          <CredentialTestPanel form={form} provider={provider} virtualKey={null} />
        </>
      )}
      {catalog.isError && <ErrorCard error={shownError(catalog.error)} />}
      {creation.isError && <ErrorCard error={shownError(creation.error)} title={words.errors.actionTitle} />}
      <div className={styles.actions}>
        <Button variant="subtle" color="gray" onClick={onDone}>
          {setUpWords.skip}
        </Button>
        <Button type="submit" variant="filled" disabled={!canSave} loading={creation.isPending}>
          {setUpWords.provider.submit}
        </Button>
      </div>
    </form>
  );
}
