import { client, dataOf } from './client';

/** Invites one person to the organization and to a workspace, as members of both. Sends a mail where the service can send mails. */
export const invite = (email: string, workspaceId: string) =>
  dataOf(
    client.POST('/v1/admin/users/invites', {
      body: { email, role: 'member', workspaces: [{ id: workspaceId, role: 'member' }] },
    }),
  );
