import { Tooltip } from '@mantine/core';
import { cloneElement, type ReactElement } from 'react';
import { Can } from '../../parts/states/can';
import { useMay, usePlace } from '../../session/session';
import { identityProviderWords } from '../../words/identity-providers';

const SCOPE = 'organisation_settings.update';

interface OwnersOnlyProps {
  readonly children: ReactElement<{ disabled?: boolean; 'data-disabled'?: boolean }>;
}

/** Admins have the permission, but only owners manage sign-in. Everyone sees the action, and why it is disabled. */
export function OwnersOnly({ children }: OwnersOnlyProps) {
  const { session } = usePlace();
  const may = useMay();
  if (session.role === 'owner' || !may(SCOPE))
    return (
      <Can isAllowed={may(SCOPE)} scope={SCOPE}>
        {children}
      </Can>
    );
  return (
    <Tooltip label={identityProviderWords.ownersOnly} events={{ hover: true, focus: true, touch: true }}>
      {cloneElement(children, { 'data-disabled': true, 'aria-disabled': true, onClick: undefined } as object)}
    </Tooltip>
  );
}
