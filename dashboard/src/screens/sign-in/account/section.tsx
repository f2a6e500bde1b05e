import type { ComponentProps } from 'react';
import { shownError } from '../../../api/load-state';
import { Section as SectionPart } from '../../../parts/shell/section';

type SectionProps = Omit<ComponentProps<typeof SectionPart>, 'error'> & { readonly error?: Error | null };

/** One section of the account page. A cancelled passkey dialog is not an error. */
export function Section({ error, ...section }: SectionProps) {
  const isShown = error && !(error instanceof DOMException);
  return <SectionPart {...section} error={isShown ? shownError(error) : null} />;
}
