/** Reasons, as the API names them. */
const reasons = {
  missing: 'No API key',
  malformed: 'Not an API key',
  unknown: 'Unknown key',
  expired: 'Key has expired',
  revoked: 'Key was revoked',
  replaced: 'Key was rotated',
  token: 'Invalid signed token',
  provider_key: "A provider's key",
  throttled: 'Too many failures',
} as const;

export const refusedCredentialWords = {
  title: 'Refused keys',
  text: 'Requests without a valid API key, signed token or session, of the last 30 days. Only the end of a key is kept.',
  table: 'Refused keys',
  reasons,
  columns: {
    last: 'Last request',
    reason: 'Reason',
    address: 'IP address',
    key: 'Key',
    path: 'Path',
    requests: 'Requests',
    first: 'First request',
  },
  others: 'Other addresses',
  endOf: (lastFour: string) => `…${lastFour}`,
  count: (requests: string) => `${requests} refused ${requests === '1' ? 'request' : 'requests'}`,
  requests: (requests: string) => `${requests} ${requests === '1' ? 'request' : 'requests'}`,
  empty: 'No request was refused',
  emptyText: 'Requests with a missing, wrong, expired or revoked key appear here after a few seconds.',
  emptyFiltered: 'Remove the filter to see other reasons.',
};
