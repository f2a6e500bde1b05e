import { Button } from '@mantine/core';
import { useInterval } from '@mantine/hooks';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { useState } from 'react';
import { Page } from '../../parts/shell/page';
import { EmptyState } from '../../parts/states/states';
import { reloadIfReachable } from '../../reload';
import { words } from '../../words/en';

/** For an unknown URL, in the frame of the workspace, so that the user can go on from there. */
export function NotFoundPage() {
  return (
    <Page title={words.shell.notFound} text={words.shell.notFoundText}>
      <div>
        <Button component="a" href="/ui/">
          {words.shell.home}
        </Button>
      </div>
    </Page>
  );
}

const RETRY_MS = 5_000;

/** For a file of this page that could not be loaded, or a defect of the page itself, whose text is needed for a report. */
export function CrashPage({ error }: ErrorComponentProps) {
  const [isUnreachable, setUnreachable] = useState(false);
  const reload = (): void => void reloadIfReachable().then((isReachable) => setUnreachable(!isReachable));
  const isMissingFile = error instanceof Error && MISSING_FILE.test(error.message);
  useInterval(reload, RETRY_MS, { autoInvoke: isMissingFile });
  if (isUnreachable || isMissingFile)
    return (
      <EmptyState title={words.errors.title} text={words.errors.unreachable}>
        <Button onClick={reload}>{words.parts.retry}</Button>
      </EmptyState>
    );
  return (
    <EmptyState title={words.shell.crashed} text={words.shell.crashedText}>
      <code>{error instanceof Error ? error.message : String(error)}</code>
      <Button onClick={reload}>{words.shell.reload}</Button>
    </EmptyState>
  );
}

/** As Chromium and Firefox, Safari, and for style sheets Vite call it (https://vite.dev/guide/build#load-error-handling). */
const MISSING_FILE = /dynamically imported module|Importing a module script failed|Unable to preload CSS/;
