import type { ComponentProps } from 'react';
import { shownError } from '../../../api/load-state';
import { Section as SectionPart } from '../../../parts/shell/section';

type SectionProps = Omit<ComponentProps<typeof SectionPart>, 'error'> & { readonly error?: Error | null };

/** One section of the account page. What the browser says about a passkey stands in the form of passkeys. */
export function Section({ error, ...section }: SectionProps) {
  const isShown = error && !(error instanceof DOMException);
  return <SectionPart {...section} error={isShown ? shownError(error) : null} />;
}
