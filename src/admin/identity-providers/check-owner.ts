import type { Principal } from '../../auth/principal.js';
import { AppError } from '../../common/errors/app-error.js';
import type { PeopleService } from '../users/people.service.js';

/** A user who controls where users sign in can sign in as any of them, so only owners can. */
export async function checkOwner(caller: Principal, people: PeopleService): Promise<void> {
  const { role } = await people.actor(caller);
  if (role !== 'owner')
    throw new AppError('forbidden', { detail: 'only an owner can change how users sign in' });
}
