import { useState } from 'react';

type Fields<T> = readonly [fields: T, setFields: (fields: T) => void, isDirty: boolean];

/** What the user enters in a dialog, and whether it differs from what the dialog began with. */
export function useFields<T>(initial: () => T): Fields<T> {
  const [beginning] = useState(initial);
  const [fields, setFields] = useState(beginning);
  return [fields, setFields, JSON.stringify(fields) !== JSON.stringify(beginning)];
}
