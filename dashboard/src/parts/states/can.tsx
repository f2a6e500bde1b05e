import { Tooltip } from '@mantine/core';
import { cloneElement, type ReactElement } from 'react';
import { words } from '../../words/en';

interface CanProps {
  readonly isAllowed: boolean;
  /** The required permission, as shown to the user. */
  readonly scope: string;
  readonly children: ReactElement<{ disabled?: boolean; 'data-disabled'?: boolean }>;
}

/** Shows an action to every user. Without the permission it is disabled and names the missing one. */
export function Can({ isAllowed, scope, children }: CanProps) {
  if (isAllowed) return children;
  // `data-disabled` looks disabled and still shows the reason on hover and focus.
  return (
    <Tooltip label={words.parts.needsScope(scope)} events={{ hover: true, focus: true, touch: true }}>
      {cloneElement(children, { 'data-disabled': true, ...refusingClick } as object)}
    </Tooltip>
  );
}

const refusingClick = {
  'aria-disabled': true,
  onClick: (event: { preventDefault: () => void }) => event.preventDefault(),
};
