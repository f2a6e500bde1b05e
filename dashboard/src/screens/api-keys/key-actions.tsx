import { Button, Select } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { type ApiKey, revokeApiKey, rotateApiKey } from '../../api/keys';
import { shownError } from '../../api/load-state';
import { ConfirmByName } from '../../parts/overlay/confirm-by-name';
import { ErrorCard } from '../../parts/states/states';
import { apiKeyWords } from '../../words/api-keys';
import { words } from '../../words/en';
import { NewSecret } from './new-secret';
import dialog from '../../parts/overlay/dialog-form.module.css';

const texts = apiKeyWords;

interface KeyDialogProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
}

export function RevokeDialog({ apiKey, onClose }: KeyDialogProps) {
  const queryClient = useQueryClient();
  const revocation = useMutation({
    mutationFn: () => revokeApiKey(apiKey.id),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: ['api-keys'] });
      onClose();
    },
  });
  return (
    <ConfirmByName
      title={texts.revokeTitle(apiKey.name)}
      text={texts.revokeText}
      name={apiKey.name}
      action={texts.revoke}
      isRunning={revocation.isPending}
      error={revocation.isError ? shownError(revocation.error) : null}
      onConfirm={() => revocation.mutate()}
      onClose={onClose}
    />
  );
}

const DEFAULT_TRANSITION = '86400000';

/** Gives a key a new secret; the old one works for a while longer, so that applications can switch over. */
export function RotateDialog({ apiKey, onClose }: KeyDialogProps) {
  const queryClient = useQueryClient();
  const [transition, setTransition] = useState(DEFAULT_TRANSITION);
  const rotation = useMutation({
    mutationFn: () => rotateApiKey(apiKey.id, Number(transition)),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['api-keys'] }),
  });
  return (
    <Dialog
      onClose={rotation.data ? () => undefined : onClose}
      withCloseButton={!rotation.data}
      title={texts.rotateTitle(apiKey.name)}
    >
      {rotation.data ? (
        <NewSecret secret={rotation.data.key} scopes={apiKey.scopes} onDone={onClose} />
      ) : (
        <div className={dialog.form}>
          <p className={dialog.text}>{texts.rotateText}</p>
          <Select
            label={texts.transition}
            data={Object.entries(texts.transitions).map(([value, label]) => ({ value, label }))}
            value={transition}
            onChange={(value) => setTransition(value ?? DEFAULT_TRANSITION)}
          />
          {rotation.isError && (
            <ErrorCard error={shownError(rotation.error)} title={words.errors.actionTitle} />
          )}
          <div className={dialog.actions}>
            <Button onClick={onClose}>{words.parts.cancel}</Button>
            <Button variant="filled" loading={rotation.isPending} onClick={() => rotation.mutate()}>
              {texts.rotate}
            </Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
