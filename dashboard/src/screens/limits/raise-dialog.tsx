import { Button, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMutation } from '../../api/use-mutation';
import { Dialog } from '../../parts/overlay/dialog';
import { type Limit, raiseLimit } from '../../api/limits';
import { shownError } from '../../api/load-state';
import { date } from '../../parts/format/times';
import { ErrorCard } from '../../parts/states/states';
import { useZone } from '../../parts/zone';
import { limitWords } from '../../words/limits';
import { words } from '../../words/en';
import { amountOf } from './limit-amount';
import styles from './limits-page.module.css';

const texts = limitWords.raiseDialog;

/** Raises a budget until its next reset. */
export function RaiseDialog({ limit, onClose }: { limit: Limit; onClose: () => void }) {
  const zone = useZone();
  const queryClient = useQueryClient();
  const [typed, setTyped] = useState('');
  const by = Number(typed);
  const isAmount = by > 0 && Number.isFinite(by);
  const raising = useMutation({
    mutationFn: () => raiseLimit(limit.id, by),
    onSuccess: async () => {
      await Promise.all(
        ['limits', 'virtual-keys', 'api-keys'].map((name) =>
          queryClient.invalidateQueries({ queryKey: [name] }),
        ),
      );
      onClose();
    },
  });
  const until = limit.resets_at === null ? '' : date(new Date(limit.resets_at), zone);
  return (
    <Dialog isDirty={typed !== ''} onClose={onClose} title={texts.title(limit.applies_to.name)}>
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isAmount) raising.mutate();
        }}
      >
        <p className={styles.text}>
          {texts.text(amountOf(limit, limit.used ?? 0), amountOf(limit, limit.limit), until)}
        </p>
        <TextInput
          label={texts.by(limit.measure === 'cost' ? texts.dollars : texts.tokens)}
          inputMode="decimal"
          data-autofocus
          value={typed}
          error={typed === '' || isAmount ? null : texts.number}
          description={isAmount ? texts.after(amountOf(limit, limit.limit + by)) : undefined}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          onChange={({ currentTarget }) => setTyped(currentTarget.value.trim())}
        />
        {raising.isError && <ErrorCard error={shownError(raising.error)} title={words.errors.actionTitle} />}
        <div className={styles.actions}>
          <Button onClick={onClose}>{words.parts.cancel}</Button>
          <Button type="submit" variant="filled" disabled={!isAmount} loading={raising.isPending}>
            {texts.submit}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
