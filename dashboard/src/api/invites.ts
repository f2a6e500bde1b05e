import { client, dataOf } from './client';

/** Invites a user to the organization and a workspace, as a member of both. Sends a mail if mail is configured. */
export const invite = (email: string, workspaceId: string) =>
  dataOf(
    client.POST('/v1/admin/users/invites', {
      body: { email, role: 'member', workspaces: [{ id: workspaceId, role: 'member' }] },
    }),
  );
