import { useLocalStorage } from '@mantine/hooks';
import { useMemo } from 'react';

const separator = ',';

interface ColumnChoice {
  readonly shown: readonly string[];
  /** Returns the choice for the address. */
  readonly choose: (columns: readonly string[]) => string;
}

/** The columns of a table: those of the address, else the last choice in this browser, else the usual ones. */
export function useColumns(
  table: string,
  inAddress: string | undefined,
  usual: readonly string[],
): ColumnChoice {
  const [last, setLast] = useLocalStorage<string | undefined>({
    key: `gatehouse-columns-${table}`,
    getInitialValueInEffect: false,
  });
  const chosen = inAddress ?? last;
  const shown = useMemo(() => chosen?.split(separator) ?? usual, [chosen, usual]);
  return {
    shown,
    choose: (columns) => {
      const text = columns.join(separator);
      setLast(text);
      return text;
    },
  };
}
