import { Button, Skeleton } from '@mantine/core';
import { IconAlertTriangle, IconLock } from '@tabler/icons-react';
import { type ReactNode, useEffect, useState } from 'react';
import { words } from '../../words/en';
import { CopyButton } from '../values/identifier';
import type { LoadState, ShownError } from './load-state';
import styles from './states.module.css';

const textOf = ({ message, code, status }: ShownError): string =>
  message || (code === 'unreachable' ? words.errors.unreachable : words.errors.unknown(status));

interface ErrorCardProps {
  readonly error: ShownError;
  readonly title?: string;
  readonly onRetry?: () => void;
}

/** What failed, why, what to try, and the request id for support. */
export function ErrorCard({ error, title = words.errors.title, onRetry }: ErrorCardProps) {
  const advice = words.errors.advice[error.code];
  return (
    <div className={styles.error} role="alert">
      <IconAlertTriangle size={16} className={styles.errorIcon} aria-hidden />
      <div className={styles.errorBody}>
        <strong>{title}</strong>
        <p>{textOf(error)}</p>
        {advice && <p>{advice}</p>}
        <p className={styles.facts}>
          <code>{error.code}</code>
          {error.requestId && (
            <>
              {words.parts.requestId} <code>{error.requestId}</code>
              <CopyButton value={error.requestId} label={words.identifier.copy(error.requestId)} />
            </>
          )}
        </p>
      </div>
      {onRetry && <Button onClick={onRetry}>{words.parts.retry}</Button>}
    </div>
  );
}

interface EmptyStateProps {
  readonly icon?: ReactNode;
  readonly title: string;
  readonly text: string;
  readonly children?: ReactNode;
}

/** Describes the missing content, with the command or button to create it. */
export function EmptyState({ icon, title, text, children }: EmptyStateProps) {
  return (
    <div className={styles.empty}>
      {icon && <span className={styles.emptyIcon}>{icon}</span>}
      <strong>{title}</strong>
      <p>{text}</p>
      {children}
    </div>
  );
}

export function Forbidden({ scope }: { scope: string }) {
  return (
    <EmptyState
      icon={<IconLock size={20} aria-hidden />}
      title={words.parts.forbidden}
      text={words.parts.needsScope(scope)}
    />
  );
}

const SLOW_MS = 3_000;

/** True when loading has taken three seconds. */
export function useSlow(isLoading: boolean): boolean {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    if (!isLoading) return;
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => {
      clearTimeout(timer);
      setSlow(false);
    };
  }, [isLoading]);
  return isSlow;
}

/** Grey lines after 150 ms; after three seconds a text that loading continues, with a way to cancel. */
export function Loading({ lines = 8, cancel }: { lines?: number; cancel?: () => void }) {
  const isSlow = useSlow(true);
  return (
    <div className={styles.loading} role="status" aria-label={words.parts.loading}>
      {isSlow && (
        <p className={styles.slow}>
          {words.parts.stillWorking} {cancel && <Button onClick={cancel}>{words.parts.cancel}</Button>}
        </p>
      )}
      {Array.from({ length: lines }, (_, line) => (
        <Skeleton key={line} height={12} width={`${92 - ((line * 17) % 40)}%`} />
      ))}
    </div>
  );
}

/** Shows `children` when there is content, and the state otherwise. Old content stays, dimmed, while new content loads. */
export function Loadable({
  state,
  lines,
  children,
}: {
  state: LoadState;
  lines?: number;
  children: () => ReactNode;
}) {
  switch (state.phase) {
    case 'loading':
      return <Loading lines={lines} cancel={state.cancel} />;
    case 'error':
      return <ErrorCard error={state.error} onRetry={state.retry} />;
    case 'forbidden':
      return <Forbidden scope={state.scope} />;
    case 'ready':
      return (
        <div
          className={styles.ready}
          data-refreshing={state.isRefreshing || undefined}
          aria-busy={state.isRefreshing}
        >
          {children()}
        </div>
      );
  }
}
