/** Texts of saved views and log exports, loaded on demand. */
export const viewWords = {
  list: 'Saved views',
  own: 'Yours',
  shared: 'Shared in this workspace',
  none: 'No saved views',
  noneText: 'A view keeps filters, range and columns under a name.',
  save: 'Save this view',
  name: 'Name',
  isShared: 'Share with everybody who can list logs in this workspace',
  saveButton: 'Save view',
  update: (name: string) => `Replace ${name} with what is shown`,
  remove: (name: string) => `Remove ${name}`,
  back: 'Cancel',
} as const;

export const exportWords = {
  title: 'Export these requests',
  text: 'A background process writes the file. It has the requests that match the filters and the range now, oldest first.',
  format: 'Format',
  formats: { jsonl: 'JSON lines', csv: 'CSV', parquet: 'Parquet' },
  fields: 'Columns',
  fieldsText: 'The columns of the table, or all that your organization allows.',
  fieldChoices: { shown: 'Usual columns', all: 'All columns, with bodies' },
  start: 'Start export',
  inProgress: (rows: string) => `Writing the file. ${rows} requests so far.`,
  done: (rows: string, size: string) => `The file has ${rows} requests and ${size}.`,
  failed: 'The export failed',
  stopped: 'The export was stopped.',
  download: 'Download file',
  stop: 'Stop export',
} as const;
