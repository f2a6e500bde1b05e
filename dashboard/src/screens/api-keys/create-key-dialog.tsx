import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { IconAlertCircle, IconEyeOff } from '@tabler/icons-react';
import { type SyntheticEvent, useState } from 'react';
import { API_KEYS, createApiKey } from '../../api/keys';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { usePlace } from '../../session/session';
import { apiKeyWords } from '../../words/api-keys';
import { words } from '../../words/en';
import { KeyFields } from './key-fields';
import { EMPTY, isChangedFrom, type KeyForm, missingOf, newBody } from './key-form';
import styles from './key-form.module.css';
import { KeyPreview } from './key-preview';
import { NewSecret } from './new-secret';
import { RefusedSave, refusedFields } from './refused-save';
import type { KeyLevel } from './scope-groups';

const texts = apiKeyWords.dialog;

interface CreateKeyDialogProps {
  readonly level: KeyLevel;
  readonly onClose: () => void;
}

/** Creates a key. Its permissions are described before it exists, and never exceed its creator's. */
export function CreateKeyDialog({ level, onClose }: CreateKeyDialogProps) {
  const { workspace } = usePlace();
  const queryClient = useQueryClient();
  const [form, setForm] = useState(EMPTY);
  const [openedAt] = useState(Date.now);
  const isOfOrganization = level === 'organization';
  const creation = useMutation({
    mutationFn: () =>
      createApiKey(
        isOfOrganization ? 'organisation/service' : `workspace/${form.owner}`,
        newBody(form, isOfOrganization ? null : workspace.id, openedAt),
      ),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: [API_KEYS] }),
  });
  const missing = missingOf(form);
  const submit = (event: SyntheticEvent): void => {
    event.preventDefault();
    if (missing.length === 0) creation.mutate();
  };
  if (creation.data)
    return (
      <Dialog onClose={() => undefined} withCloseButton={false} title={texts.created} size={560}>
        <NewSecret secret={creation.data.key} scopes={[...form.scopes]} onDone={onClose} />
      </Dialog>
    );
  return (
    <Dialog
      onClose={onClose}
      isDirty={isChangedFrom(form, EMPTY)}
      title={isOfOrganization ? texts.adminTitle : texts.title}
      size={920}
      padding={0}
      classNames={{ header: styles.header }}
    >
      <form onSubmit={submit}>
        <p className={styles.intro}>{isOfOrganization ? texts.adminText : texts.text(workspace.name)}</p>
        <div className={styles.columns}>
          <div className={styles.fields}>
            <KeyFields
              form={form}
              level={level}
              stored={null}
              errors={refusedFields(creation.error)}
              onChange={(part: Partial<KeyForm>) => setForm({ ...form, ...part })}
            />
            <RefusedSave error={creation.error} />
          </div>
          <KeyPreview form={form} level={level} openedAt={openedAt} />
        </div>
        <footer className={styles.footer}>
          <Hint missing={missing} text={texts.once} />
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={missing.length > 0} loading={creation.isPending}>
            {isOfOrganization ? apiKeyWords.admin.create : texts.submit}
          </Button>
        </footer>
      </form>
    </Dialog>
  );
}

/** Why the key cannot be saved yet; otherwise a note. */
export function Hint({ missing, text }: { missing: readonly string[]; text: string }) {
  const Icon = missing.length > 0 ? IconAlertCircle : IconEyeOff;
  return (
    <span className={styles.once} aria-live="polite">
      {(missing.length > 0 || text !== '') && <Icon size={16} aria-hidden />}
      {missing.length > 0 ? texts.missingAre(missing) : text}
    </span>
  );
}
