import type { ZxcvbnFactory } from '@zxcvbn-ts/core';
import { AppError } from '../../common/errors/app-error.js';

export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;
/** On a scale of 0 to 4: fewer than 10^8 guesses is too few. https://github.com/dropbox/zxcvbn#usage */
const LOWEST_SCORE = 3;
/** Estimating a longer text takes too long, and adds nothing. */
const ESTIMATED_LENGTH = 64;
const PRODUCT = 'gatehouse';

let estimator: Promise<ZxcvbnFactory> | undefined;

/**
 * Refuses with `password_unacceptable` a password that is too short, common, derived from a common one, or from the user's own email
 * address. There are no rules about kinds of characters: https://pages.nist.gov/800-63-4/sp800-63b.html#passwordver
 */
export async function checkPassword(password: string, email: string): Promise<void> {
  if (password.length < SHORTEST_PASSWORD || password.length > LONGEST_PASSWORD)
    throw refused(`it must have ${SHORTEST_PASSWORD} to ${LONGEST_PASSWORD} characters`);
  const text = password.toLowerCase();
  const [local = '', domain = ''] = email.toLowerCase().split('@');
  if (text.includes(email.toLowerCase()) || email.toLowerCase().includes(text))
    throw refused('it must not be your e-mail address');
  const { score } = (await (estimator ??= loadEstimator())).check(password.slice(0, ESTIMATED_LENGTH), [
    email,
    local,
    ...local.split(/[^a-z]+/),
    ...domain.split('.'),
    PRODUCT,
  ]);
  if (score < LOWEST_SCORE)
    throw refused('it is common or easy to guess. Use several unrelated words or a password manager');
}

/** Its dictionaries take 8 MB, which a process needs only once a user sets a password. */
async function loadEstimator(): Promise<ZxcvbnFactory> {
  const { ZxcvbnFactory } = await import('@zxcvbn-ts/core');
  const { adjacencyGraphs, dictionary } = await import('@zxcvbn-ts/language-common');
  return new ZxcvbnFactory({ dictionary, graphs: adjacencyGraphs });
}

const refused = (detail: string): AppError => new AppError('password_unacceptable', { detail });
