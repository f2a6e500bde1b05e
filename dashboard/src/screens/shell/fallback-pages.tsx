import { Button } from '@mantine/core';
import type { ErrorComponentProps } from '@tanstack/react-router';
import { Page } from '../../parts/shell/page';
import { EmptyState } from '../../parts/states/states';
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

/** For a defect of this page itself. The error's text is needed for a report. */
export function CrashPage({ error }: ErrorComponentProps) {
  return (
    <EmptyState title={words.shell.crashed} text={words.shell.crashedText}>
      <code>{error instanceof Error ? error.message : String(error)}</code>
      <Button onClick={() => location.reload()}>{words.shell.reload}</Button>
    </EmptyState>
  );
}
