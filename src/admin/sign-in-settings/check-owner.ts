import type { Principal } from '../../auth/principal.js';
import type { PeopleService } from '../users/people.service.js';

/** A user who controls where users sign in can sign in as any of them, so only owners can. */
export async function checkOwner(caller: Principal, people: PeopleService): Promise<void> {
  await people.ownerWithAllScopes(caller, 'only an owner can change how users sign in');
}
