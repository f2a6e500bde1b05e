/**
 * What happens to an attempt when its client disconnects: `cancel` ends it and charges what arrived, as an estimate; `finish` reads its
 * response to the end and charges what the provider reports.
 */
export const CLIENT_DISCONNECT_RULES = ['cancel', 'finish'] as const;

export type ClientDisconnectRule = (typeof CLIENT_DISCONNECT_RULES)[number];
