import { Button } from '@mantine/core';
import { words } from '../../words/en';

interface TableToggleProps {
  readonly isTable: boolean;
  readonly onToggle: () => void;
}

/** Switches a chart to the table of its values. */
export function TableToggle({ isTable, onToggle }: TableToggleProps) {
  return (
    <Button size="compact-xs" variant="subtle" color="gray" onClick={onToggle}>
      {isTable ? words.parts.showChart : words.parts.showTable}
    </Button>
  );
}
