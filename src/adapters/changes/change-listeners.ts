import type { Change } from '../../common/changes/change.js';
import { createLogger } from '../../common/observability/logger.js';

type ChangeListener = (change: Change | null) => void;

const logger = createLogger('changes');

/** Listeners for changes. A listener that fails does not affect the others. */
export class ChangeListeners {
  private readonly listeners: ChangeListener[] = [];

  add(listener: ChangeListener): void {
    this.listeners.push(listener);
  }

  tell(change: Change | null): void {
    for (const listener of this.listeners) {
      try {
        listener(change);
      } catch (error) {
        logger.error({ err: error }, 'A listener of changes failed.');
      }
    }
  }
}
