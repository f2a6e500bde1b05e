import { type CustomDecorator, SetMetadata } from '@nestjs/common';

export const OWN_TRANSACTIONS = 'gatehouse:own-transactions';

/**
 * For a handler that hashes a password or calls an identity provider before it changes anything: no transaction is open meanwhile. It makes
 * its changes within `AuditedTransactions`, and throttles failed attempts itself, because their count must outlive a rollback.
 */
export const OwnTransactions = (): CustomDecorator => SetMetadata(OWN_TRANSACTIONS, true);
