import { Button } from '@mantine/core';
import { useBlocker, useMatch } from '@tanstack/react-router';
import { Dialog } from '../../parts/overlay/dialog';
import { dialogWords } from '../../words/dialogs';
import dialog from '../../parts/overlay/dialog-form.module.css';

const texts = dialogWords.leave;

/** Asks before another page is opened with unsaved changes, and lets the browser ask before the tab is closed. */
export function LeaveDialog({ isDirty }: { isDirty: boolean }) {
  // A page stays mounted until the next one is loaded. Going back to it in this time does not leave it. The match of an index route ends
  // with a slash, which locations lack.
  const own = useMatch({ strict: false, select: ({ pathname }) => pathname.replace(/\/$/, '') });
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isDirty && current.pathname === own && next.pathname !== own,
    enableBeforeUnload: isDirty,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog title={texts.title} onClose={blocker.reset}>
      <div className={dialog.form}>
        <p className={dialog.text}>{texts.text}</p>
        <div className={dialog.actions}>
          <Button data-autofocus onClick={blocker.reset}>
            {texts.stay}
          </Button>
          <Button variant="filled" onClick={blocker.proceed}>
            {texts.leave}
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
