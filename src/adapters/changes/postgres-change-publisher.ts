import { type Change, ChangePublisher } from '../../common/changes/change.js';
import type { UnitOfWork } from '../../database/unit-of-work.js';
import { CHANGES_CHANNEL, writeChange } from './change-message.js';

/** Publishes changes with NOTIFY inside the transaction that makes them. `PostgresChangeFeed` receives them after its commit. */
export class PostgresChangePublisher extends ChangePublisher {
  constructor(private readonly work: UnitOfWork) {
    super();
  }

  override async publish(change: Change): Promise<void> {
    await this.work.notify(CHANGES_CHANNEL, writeChange(change));
  }
}
