import type { ComponentProps } from 'react';
import { shownError } from '../../../api/load-state';
import { Confirm } from '../../../parts/overlay/confirm';

interface Doing {
  readonly error: Error | null;
  readonly isPending: boolean;
  readonly mutate: () => void;
  readonly reset: () => void;
}

interface AccountConfirmProps extends Pick<
  ComponentProps<typeof Confirm>,
  'title' | 'text' | 'action' | 'onClose'
> {
  readonly doing: Doing;
}

/** Asks before the user loses a way to sign in. */
export function AccountConfirm({ doing, onClose, ...texts }: AccountConfirmProps) {
  return (
    <Confirm
      {...texts}
      isRunning={doing.isPending}
      error={doing.error && shownError(doing.error)}
      onConfirm={() => doing.mutate()}
      onClose={() => {
        doing.reset();
        onClose();
      }}
    />
  );
}
