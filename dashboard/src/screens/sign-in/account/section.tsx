import type { ComponentProps } from 'react';
import { shownError } from '../../../api/load-state';
import { Section as SectionPart } from '../../../parts/shell/section';

type SectionProps = Omit<ComponentProps<typeof SectionPart>, 'error'> & { readonly error?: Error | null };

/** One subject of the account. A passkey dialog that was closed is no error. */
export function Section({ error, ...section }: SectionProps) {
  const isShown = error && !(error instanceof DOMException);
  return <SectionPart {...section} error={isShown ? shownError(error) : null} />;
}
